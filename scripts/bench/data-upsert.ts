import type { Lab } from './lib/lab.ts'
import type { Pace } from './lib/pace.ts'
import type { Line } from './lib/report.ts'
import { postSite, pushPipelines } from './lib/site-pipelines.ts'
import { interleave, median, ratios } from './lib/stats.ts'
import { type Svc, startSvc } from './lib/svc.ts'

const ITEMS = 1000
/** Single records in a sample. */
const SINGLE = 200

const item = { title: 'steps.item.title', link: 'steps.item.link' }
const SCHEMA = {
  name: 'entries',
  fields: [
    { name: 'guid', type: 'string', unique: true },
    { name: 'title', type: 'string', required: true },
    { name: 'link', type: 'string' },
  ],
}
const RULES = {
  '/api/one': {
    handlerType: 'data_create',
    config: {
      schemaId: '$schema:entries',
      fields: { guid: 'input.guid', title: 'input.title', link: 'input.link' },
    },
  },
  '/api/many': {
    handlerType: 'data_upsert_many',
    config: {
      schemaId: '$schema:entries',
      items: 'request.body',
      map: item,
      dedupField: 'guid',
      dedupKey: 'steps.item.guid',
    },
  },
}

/** A thousand new records in one `data_upsert_many`, against `data_create` one request after another: records in a second. */
export async function benchDataUpsert(lab: Lab, pace: Pace): Promise<Line[]> {
  const svc = await startSvc(lab)
  await pushPipelines(lab, svc, RULES, [SCHEMA])
  let made = 0
  const entries = (count: number) =>
    Array.from({ length: count }, () => {
      made += 1
      return { guid: `g${made}`, title: `Entry ${made}`, link: `https://example.com/${made}` }
    })
  const many = () => rateOf(ITEMS, () => expectInserted(svc, entries(ITEMS)))
  const single = () =>
    rateOf(SINGLE, async () => {
      for (const entry of entries(SINGLE)) await postSite(svc, '/api/one', entry)
    })
  for (const subject of [many, single]) await subject()
  const results = await interleave([many, single], pace.rounds, (subject) => subject())
  await svc.process.stop()
  const [ours = [], theirs = []] = [results.get(many), results.get(single)]
  return [
    {
      name: `${ITEMS} new records`,
      measure: 'upsert_many/create',
      samples: ratios(ours, theirs),
      bar: { atLeast: 10 },
      detail: `${median(ours).toFixed(0)}/s, one by one ${median(theirs).toFixed(0)}/s`,
    },
  ]
}

async function rateOf(count: number, work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return (count * 1000) / (performance.now() - start)
}

async function expectInserted(svc: Svc, entries: readonly unknown[]): Promise<void> {
  const { data } = (await postSite(svc, '/api/many', entries)) as { data: { inserted: number } }
  if (data.inserted !== entries.length) throw new Error(`${data.inserted} records were stored`)
}
