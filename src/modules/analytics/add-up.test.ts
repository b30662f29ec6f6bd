import { expect, test } from 'bun:test'
import { openLogsDb } from '../../db/logs-db.ts'
import { DAY_MS, HOUR_MS } from '../../domain/durations.ts'
import { addUp, countNames } from './add-up.ts'

const span = { projectId: undefined, from: 10 * DAY_MS, to: 13 * DAY_MS }

function hoursOf(...rows: [projectId: string, hour: number, views: number][]) {
  const db = openLogsDb(':memory:')
  const insert = db.sqlite.prepare('INSERT INTO hours VALUES (?, ?, ?, 1, 100, ?, 2, 3, 4)')
  for (const [projectId, hour, views] of rows) insert.run(projectId, hour, 10, views)
  return db
}

test('each hour counts once, in its bucket and for its project; the end of the span is not in it', async () => {
  const db = hoursOf(
    ['a', span.from - HOUR_MS, 1000],
    ['a', span.from, 1],
    ['a', span.from + DAY_MS - HOUR_MS, 2],
    ['b', span.from + DAY_MS - HOUR_MS, 4],
    ['', span.to - HOUR_MS, 8],
    ['b', span.to, 1000],
  )
  const { totals, series, projects } = await addUp(db, span, DAY_MS)
  expect(series.map(({ at, views }) => [(at - span.from) / DAY_MS, views])).toEqual([
    [0, 7],
    [1, 0],
    [2, 8],
  ])
  expect([...projects].map(([id, { views }]) => [id, views])).toEqual([
    ['a', 3],
    ['b', 4],
    ['', 8],
  ])
  expect(totals).toEqual({
    views: 15,
    visitors: 8,
    requests: 40,
    bots: 4,
    bytes: 400,
    notFound: 12,
    errors: 16,
  })
})

test('the hours of one project alone', async () => {
  const db = hoursOf(['a', span.from, 1], ['b', span.from, 4])
  const { totals, series } = await addUp(
    db,
    { ...span, projectId: 'b', to: span.from + 2 * HOUR_MS },
    HOUR_MS,
  )
  expect([totals.views, series.map(({ views }) => views)]).toEqual([4, [4, 0]])
})

test('the most frequent names of all days, equal ones by name', async () => {
  const db = openLogsDb(':memory:')
  const insert = db.sqlite.prepare('INSERT INTO days VALUES (?, ?, ?, ?, ?)')
  const add = (projectId: string, day: number, kind: string, names: Record<string, number>) => {
    for (const [name, count] of Object.entries(names))
      insert.run(projectId, span.from + day * DAY_MS, kind, name, count)
  }
  add('a', 0, 'bot', { curl: 3, wget: 5, googlebot: 1 })
  add('a', 2, 'bot', { curl: 3, googlebot: 4 })
  add('b', 2, 'bot', { bingbot: 5, rare: 1 })
  add('a', 3, 'bot', { after: 100 })
  add('a', 1, 'page', { '/': 100 })
  const names = async (projectId: string | undefined, limit: number) =>
    (await countNames(db, { ...span, projectId }, 'bot', limit)).map(({ name, count }) => `${name} ${count}`)
  expect(await names(undefined, 4)).toEqual(['curl 6', 'bingbot 5', 'googlebot 5', 'wget 5'])
  expect(await names(undefined, 100)).toEqual(['curl 6', 'bingbot 5', 'googlebot 5', 'wget 5', 'rare 1'])
  expect(await names('b', 100)).toEqual(['bingbot 5', 'rare 1'])
  expect(await names('none', 1)).toEqual([])
})
