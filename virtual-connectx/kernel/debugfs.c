// SPDX-License-Identifier: GPL-2.0 OR MIT
/* /sys/kernel/debug/virtual-connectx/: a folder for each function, and one for the switch. */
#include "virtual-connectx/kernel/debugfs.h"

#include <linux/debugfs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define MOST_TEXT  256
#define MOST_FILES 16

/* A file of a folder. */
struct view {
    struct vcx_front *front; /* NULL: the switch's */
    const struct vcx_file *file;
};

static struct view views[VCX_MOST_FUNCTIONS + 1][MOST_FILES];
static struct dentry *root;

static bool is_running(const struct view *view)
{
    return !view->front || view->front->running;
}

static int view_show(struct seq_file *file, void *unused)
{
    const struct view *view = file->private;
    mutex_lock(&vcx_lock);
    if (is_running(view) && view->file->show)
        view->file->show(file, view->front);
    mutex_unlock(&vcx_lock);
    return 0;
}

static int view_open(struct inode *inode, struct file *file)
{
    return single_open(file, view_show, inode->i_private);
}

static int view_set(const struct view *view, char *text)
{
    int rc;
    if (!view->file->set)
        return -ENODEV;
    if (view->file->locks)
        return view->file->set(view->front, text);
    mutex_lock(&vcx_lock);
    vcx_turn_begin();
    rc = is_running(view) ? view->file->set(view->front, text) : -ENODEV;
    mutex_unlock(&vcx_lock);
    return rc;
}

static ssize_t view_write(struct file *file, const char __user *from, size_t bytes, loff_t *at)
{
    const struct view *view = file_inode(file)->i_private;
    char *text;
    int rc;
    if (bytes > MOST_TEXT)
        return -EINVAL;
    text = memdup_user_nul(from, bytes);
    if (IS_ERR(text))
        return PTR_ERR(text);
    rc = view_set(view, strim(text));
    kfree(text);
    vcx_thread_wake();
    return rc ? rc : bytes;
}

static const struct file_operations view_ops = {
    .owner = THIS_MODULE,
    .open = view_open,
    .read = seq_read,
    .write = view_write,
    .llseek = seq_lseek,
    .release = single_release,
};

static void add_folder(const char *name, struct view *view, struct vcx_front *front,
                       const struct vcx_file *file)
{
    struct dentry *folder = debugfs_create_dir(name, root);
    for (; file->name; file++, view++) {
        *view = (struct view){front, file};
        debugfs_create_file(file->name, (file->show ? 0444 : 0) | (file->set ? 0200 : 0), folder, view,
                            &view_ops);
    }
}

void vcx_debugfs_add(void)
{
    char name[12];
    root = debugfs_create_dir("virtual-connectx", NULL);
    for (unsigned int i = 0; i < vcx_functions; i++) {
        snprintf(name, sizeof name, "%u", i);
        add_folder(name, views[i], vcx_fronts[i], vcx_files_of_function);
    }
    if (vcx_switch_wire(0))
        add_folder("switch", views[VCX_MOST_FUNCTIONS], NULL, vcx_files_of_switch);
}

void vcx_debugfs_remove(void)
{
    debugfs_remove_recursive(root);
}
