/**
 * @param {unknown} value
 * @returns {Record<string, unknown>} An empty one where it is none.
 */
export const objectOf = (value) => (typeof value === 'object' && value !== null ? { ...value } : {})
