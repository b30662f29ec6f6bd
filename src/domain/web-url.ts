const MAX_HOST = 1000
const WITH_SHORT_HOST = new RegExp(`^https?://[^/?#\\\\]{1,${MAX_HOST}}[/?#\\\\]`, 'i')

/**
 * A URL of the web that a stranger sent; null if it is none. One with a host far longer than any is not read: that would
 * sort its marks, which takes the square of their number.
 */
export const parseWebUrl = (text: string): URL | null =>
  text.length <= MAX_HOST || WITH_SHORT_HOST.test(text) ? URL.parse(text) : null
