import { expect, test } from 'bun:test'
import { loadConfig } from './config.ts'

const load = (value: string) => loadConfig({ env: { WEBHOOK_RETRY_SECONDS: value } }).webhookRetrySeconds

const good: [text: string, waits: number[]][] = [
  ['', [10, 60, 600, 3600]],
  ['0,0,0,0', [0, 0, 0, 0]],
  ['1, 2, 3, 86400', [1, 2, 3, 86400]],
]
test.each(good)('WEBHOOK_RETRY_SECONDS %p', (text, waits) => expect([...load(text)]).toEqual(waits))

test.each(['10', '1,2,3', '1,2,3,4,5', '1,2,3,86401', '1,2,3,-4', '1,2,3,', 'a,b,c,d', '1.5,2,3,4'])(
  'WEBHOOK_RETRY_SECONDS %p is refused',
  (text) => expect(() => load(text)).toThrow('WEBHOOK_RETRY_SECONDS'),
)
