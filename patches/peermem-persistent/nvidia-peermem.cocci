// The probe "is this address GPU memory?" gets and puts the pages with the persistent pair of calls, as the
// registration that follows it does (and as the driver's own probe does from 580.65.06 on). The callback that only the
// other pair needs is removed.

@probe@
expression address, bytes, pages, context;
identifier callback;
@@
nv_mem_acquire(...)
{
...
- nvidia_p2p_get_pages(0, 0, address, bytes, pages, callback, context)
+ nvidia_p2p_get_pages_persistent(address, bytes, pages, 0)
...
}

@@
expression address, pages;
@@
nv_mem_acquire(...)
{
...
- nvidia_p2p_put_pages(0, 0, address, pages)
+ nvidia_p2p_put_pages_persistent(address, pages, 0)
...
}

@@
identifier probe.callback;
type T;
@@
- T callback(...) { ... }
