import { expect, test } from 'bun:test'
import { validatePipelineConfig } from '../validate.ts'

const problemsOf = (config: Record<string, unknown>) => {
  const { errors, warnings } = validatePipelineConfig({
    steps: [{ id: 'feed', handlerType: 'xml_feed_parse', config }],
  })
  const short = ({ path, message }: { path: string; message: string }) =>
    `${path.replace('steps[0].config', '').replace(/^\./, '')} ${message}`
  return [errors.map(short), warnings.map(short)]
}

test.each([
  { urls: 'request.body.urls' },
  { urls: ['https://example.com/feed.xml', 'input.url'], concurrency: 32, timeoutMs: 120_000 },
  { xml: 'request.rawBody' },
  { urls: 'https://example.com/feed.xml', concurrency: 'input.n', timeoutMs: '1000' },
])('%j is good', (config) => {
  expect(problemsOf(config)).toEqual([[], []])
})

test.each([
  [{}, [' needs urls or xml, and not both'], []],
  [{ urls: 'input.a', xml: 'input.b' }, [' needs urls or xml, and not both'], []],
  [
    { urls: ['http://a.test/'] },
    [],
    ['urls[0] must be an https address, such as https://example.com/feed.xml'],
  ],
  [{ urls: 'feed.xml' }, [], ['urls must be an https address, such as https://example.com/feed.xml']],
  [{ urls: 'input.a', concurrency: 33 }, [], ['concurrency must be a whole number from 1 to 32']],
  [{ urls: 'input.a', timeoutMs: 999 }, [], ['timeoutMs must be a whole number from 1000 to 120000']],
])('%j is not', (config, errors, warnings) => {
  expect(problemsOf(config)).toEqual([errors, warnings])
})
