import { expect, test } from 'bun:test'
import { validatePipelineConfig } from '../validate.ts'

const GOOD = {
  schemaId: '$schema:items',
  items: 'steps.feed.entries',
  map: { guid: 'steps.item.guid', title: 'steps.item.title', isRead: 'false' },
  dedupField: 'guid',
  dedupKey: ['steps.item.guid', 'steps.item.link'],
  updateFields: ['title'],
}
const feed = { id: 'feed', handlerType: 'data_query', config: { schemaId: '$schema:items' } }
const problemsOf = (config: Record<string, unknown>) => {
  const kept = { id: 'kept', handlerType: 'data_upsert_many', config }
  const { errors, warnings } = validatePipelineConfig({ steps: [feed, kept] })
  const short = ({ path, message }: { path: string; message: string }) =>
    `${path.replace('steps[1].config.', '')} ${message}`
  return [errors.map(short), warnings.map(short)]
}

test('a configuration as they are written has no problems', () => {
  expect(problemsOf(GOOD)).toEqual([[], []])
  const { updateFields: _, ...short } = GOOD
  expect(problemsOf({ ...short, dedupKey: 'steps.item.guid', dedupField: 'user' })).toEqual([[], []])
})

test.each([
  [{ updateFields: ['guid'] }, 'updateFields[0] is the dedupField, which finds the record and never changes'],
  [{ updateFields: ['title', 'other'] }, 'updateFields[1] must be a field of map'],
  [{ map: {}, updateFields: [] }, 'map must have at least one field, such as title: steps.item.title'],
  [{ items: 'entries' }, 'items must be a list, such as steps.feed.entries'],
  [{ dedupKey: 5 }, 'dedupKey must be one of: a text, a list'],
  [
    { map: { title: 'steps.item[' } },
    "map.title Expected a number or a quoted name and ], as in [0] or ['a-b'], at character 12",
  ],
])('%j is an error', (more, message) => {
  expect(problemsOf({ ...GOOD, ...more })).toEqual([[message], []])
})

test('steps.item is an output in map and dedupKey, and nowhere else', () => {
  const [errors, warnings] = problemsOf({ ...GOOD, items: 'steps.item.list' })
  expect(errors).toEqual([])
  expect(warnings).toEqual([expect.stringContaining('items names the output of a step item')])
})
