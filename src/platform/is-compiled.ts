/** Whether this is the executable, whose sources are in an embedded file system, and not Bun running from sources. */
export const IS_COMPILED = import.meta.url.includes('/$bunfs/') || import.meta.url.includes('/~BUN/')
