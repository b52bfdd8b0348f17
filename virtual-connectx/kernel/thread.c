// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * The thread that plays the firmware of all functions. Doorbells are memory, so nothing tells it of them: it
 * polls. While there is work it does not sleep; then it sleeps for a part of the time that it has had nothing
 * to do, so that an idle device costs little.
 */
#include "virtual-connectx/kernel/front.h"
#include "virtual-connectx/model/port/function.h"

#include <linux/kthread.h>
#include <linux/sched.h>

#define CALM_POLLS  4 /* without work before it sleeps, if a program on another CPU may ring meanwhile */
#define IDLE_PART   20
#define SLEEP_LEAST (50 * NSEC_PER_USEC)
#define SLEEP_MOST  (40 * NSEC_PER_MSEC) /* after 0.8 s; without KVM a sleep costs its host about 0.9 ms */
#define SLEEP_SLACK (50 * NSEC_PER_USEC)

static struct task_struct *thread;
static unsigned long woken;
/* Under vcx_lock. An emulated machine takes longer to read its clock than to pass a frame on. */
static u64 turn_ns;

void vcx_turn_begin(void)
{
    turn_ns = ktime_get_ns();
}

u64 vcx_turn_ns(void)
{
    return turn_ns;
}

/* What a driver sees of a function level reset: the device as after power-on. */
static void front_reset(struct vcx_front *front)
{
    vcx_device_stop(&front->device);
    memset_io(front->registers, 0, VCX_BAR_BYTES);
    bitmap_zero(front->pending, VCX_VECTORS);
    front->running = vcx_device_start(&front->device, &front->configuration, front, &vcx_kernel_front) == 0;
    if (!front->running)
        pr_err("virtual ConnectX %u: no memory is left to start it again\n", front->index);
}

static bool front_poll(struct vcx_front *front)
{
    bool busy;
    if (test_and_clear_bit(0, &front->reset_asked))
        front_reset(front);
    front->wire.present = front->running;
    if (!front->running)
        return false;
    vcx_port_carrier(&front->device, vcx_wire_connected(&front->wire));
    busy = vcx_wire_poll(&front->wire);
    busy |= vcx_device_poll(&front->device);
    busy |= vcx_gateway_poll(&front->gateway, &front->device);
    vcx_interrupts_poll(front);
    return busy;
}

static bool poll_all(void)
{
    bool busy = false;
    mutex_lock(&vcx_lock);
    vcx_turn_begin();
    for (unsigned int i = 0; i < vcx_functions; i++)
        busy |= front_poll(vcx_fronts[i]);
    busy |= vcx_switch_run();
    mutex_unlock(&vcx_lock);
    return busy;
}

static void thread_rest(u64 idle_ns)
{
    ktime_t time = ns_to_ktime(clamp_t(u64, idle_ns / IDLE_PART, SLEEP_LEAST, SLEEP_MOST));
    set_current_state(TASK_IDLE);
    if (!test_and_clear_bit(0, &woken) && !kthread_should_stop())
        schedule_hrtimeout_range(&time, SLEEP_SLACK, HRTIMER_MODE_REL);
    __set_current_state(TASK_RUNNING);
}

static int run_thread(void *unused)
{
    unsigned int calm = 0;
    u64 worked = ktime_get_ns();
    set_user_nice(current, MIN_NICE);
    while (!kthread_should_stop()) {
        if (poll_all()) {
            calm = 0;
            worked = vcx_turn_ns();
        } else {
            calm++;
        }
        if (calm >
            (num_online_cpus() > 1 ? CALM_POLLS : 0)) /* on a single one nobody rings until this sleeps */
            thread_rest(vcx_turn_ns() - worked);
        else
            cond_resched();
    }
    return 0;
}

int vcx_thread_start(void)
{
    thread = kthread_run(run_thread, NULL, "virtual-connectx");
    return PTR_ERR_OR_ZERO(thread);
}

void vcx_thread_stop(void)
{
    kthread_stop(thread);
}

void vcx_thread_wake(void)
{
    if (!test_and_set_bit(0, &woken) && !IS_ERR_OR_NULL(thread))
        wake_up_process(thread);
}
