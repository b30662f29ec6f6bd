const PAGE = 100
const MOST_PAGES = 100

/**
 * @typedef {Record<string, unknown>} Row
 */

/**
 * The rows of a list, page after page. A forge without pages answers the same rows again: nothing new ends it, too.
 *
 * @param {import('./call.mjs').ForgeCall} call
 * @param {string} path With its query.
 * @returns {AsyncGenerator<Row>}
 */
export async function* rowsOf(call, path) {
  const seen = new Set()
  for (let page = 1; page <= MOST_PAGES; page++) {
    const { json, hasNext } = await call('GET', `${path}per_page=${PAGE}${page === 1 ? '' : `&page=${page}`}`)
    const rows = (Array.isArray(json) ? json : []).filter(isRow)
    const fresh = rows.filter(({ id }) => !seen.has(id))
    for (const row of fresh) seen.add(row['id'])
    yield* fresh
    if (fresh.length === 0 || (!hasNext && rows.length < PAGE)) return
  }
}

/**
 * @param {unknown} value
 * @returns {value is Row}
 */
const isRow = (value) => typeof value === 'object' && value !== null
