const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/** Whether a method asks for no change. RFC 9110 §9.2.1, without TRACE, which nothing here answers. */
export const isSafe = (method: string): boolean => SAFE.has(method)
