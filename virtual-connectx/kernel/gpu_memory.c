// SPDX-License-Identifier: GPL-2.0 OR MIT
/*
 * Memory that stands for a GPU's: /dev/dma_heap/virtual-gpu allocates pages and exports them as a dma-buf, by
 * the interface of the kernel's dma-heaps (Debian's kernel has neither these nor udmabuf).
 */
#include "virtual-connectx/kernel/front.h"

#include <linux/dma-buf.h>
#include <uapi/linux/dma-heap.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#define MOST_BYTES (256ull << 20)

struct buffer {
    unsigned int count;
    struct page *pages[];
};

static void free_buffer(struct buffer *buffer)
{
    for (unsigned int i = 0; i < buffer->count; i++)
        __free_page(buffer->pages[i]);
    kvfree(buffer);
}

static struct buffer *new_buffer(unsigned int count)
{
    struct buffer *buffer = kvzalloc(struct_size(buffer, pages, count), GFP_KERNEL);
    if (!buffer)
        return NULL;
    for (; buffer->count < count; buffer->count++) {
        buffer->pages[buffer->count] = alloc_page(GFP_KERNEL | __GFP_ZERO);
        if (!buffer->pages[buffer->count]) {
            free_buffer(buffer);
            return NULL;
        }
    }
    return buffer;
}

/* ---- the dma-buf */

static struct sg_table *buffer_map(struct dma_buf_attachment *attachment, enum dma_data_direction direction)
{
    struct buffer *buffer = attachment->dmabuf->priv;
    struct sg_table *table = kzalloc(sizeof *table, GFP_KERNEL);
    int rc;
    if (!table)
        return ERR_PTR(-ENOMEM);
    rc = sg_alloc_table_from_pages(table, buffer->pages, buffer->count, 0,
                                   (size_t)buffer->count << PAGE_SHIFT, GFP_KERNEL);
    if (rc)
        goto free;
    rc = dma_map_sgtable(attachment->dev, table, direction, 0);
    if (rc == 0)
        return table;
    sg_free_table(table);
free:
    kfree(table);
    return ERR_PTR(rc);
}

static void buffer_unmap(struct dma_buf_attachment *attachment, struct sg_table *table,
                         enum dma_data_direction direction)
{
    dma_unmap_sgtable(attachment->dev, table, direction, 0);
    sg_free_table(table);
    kfree(table);
}

static int map_for_cpu(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
    struct buffer *buffer = dmabuf->priv;
    return vm_map_pages_zero(vma, buffer->pages, buffer->count);
}

static void release_buffer(struct dma_buf *dmabuf)
{
    free_buffer(dmabuf->priv);
}

static const struct dma_buf_ops buffer_ops = {
    .map_dma_buf = buffer_map, .unmap_dma_buf = buffer_unmap, .mmap = map_for_cpu, .release = release_buffer};

/* ---- the heap */

static int buffer_export(u64 bytes, u32 flags)
{
    DEFINE_DMA_BUF_EXPORT_INFO(info);
    struct buffer *buffer;
    struct dma_buf *dmabuf;
    int fd;
    if (!bytes || bytes > MOST_BYTES)
        return -EINVAL;
    buffer = new_buffer(DIV_ROUND_UP_ULL(bytes, PAGE_SIZE));
    if (!buffer)
        return -ENOMEM;
    info.ops = &buffer_ops;
    info.size = (size_t)buffer->count << PAGE_SHIFT;
    info.flags = O_RDWR;
    info.priv = buffer;
    dmabuf = dma_buf_export(&info);
    if (IS_ERR(dmabuf)) {
        free_buffer(buffer);
        return PTR_ERR(dmabuf);
    }
    fd = dma_buf_fd(dmabuf, flags);
    if (fd < 0)
        dma_buf_put(dmabuf);
    return fd;
}

static long gpu_memory_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
    struct dma_heap_allocation_data data;
    int fd;
    if (command != DMA_HEAP_IOCTL_ALLOC)
        return -ENOTTY;
    if (copy_from_user(&data, (void __user *)argument, sizeof data))
        return -EFAULT;
    if (data.fd || data.heap_flags || data.fd_flags & ~DMA_HEAP_VALID_FD_FLAGS)
        return -EINVAL;
    fd = buffer_export(data.len, data.fd_flags);
    if (fd < 0)
        return fd;
    data.fd = fd;
    return copy_to_user((void __user *)argument, &data, sizeof data) ? -EFAULT : 0;
}

static const struct file_operations heap_ops = {.owner = THIS_MODULE, .unlocked_ioctl = gpu_memory_ioctl};

static struct miscdevice heap = {.minor = MISC_DYNAMIC_MINOR,
                                 .name = "virtual-gpu",
                                 .nodename = "dma_heap/virtual-gpu",
                                 .fops = &heap_ops,
                                 .mode = 0600};

int vcx_gpu_memory_add(void)
{
    return misc_register(&heap);
}

void vcx_gpu_memory_remove(void)
{
    misc_deregister(&heap);
}

MODULE_IMPORT_NS(DMA_BUF);
