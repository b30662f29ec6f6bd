/** Whether this is the executable, which keeps its sources in a file system of its own, and not Bun running them. */
export const IS_COMPILED = import.meta.url.includes('/$bunfs/') || import.meta.url.includes('/~BUN/')
