import { expect, test } from 'bun:test'
import { parseWrk } from './load.ts'

const output = (extra = '') => `Running 1s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.02ms    0.30ms   9.00ms   91.00%
    Req/Sec    60.10k     2.00k   63.00k    80.00%
  Latency Distribution
     50%    0.98ms
     75%    1.10ms
     90%    1.30ms
     99%  500.00us
  59841 requests in 1.00s, 70.10MB read
${extra}Requests/sec:  59790.12
Transfer/sec:     70.04MB
`

test('reads the figures of wrk', () => {
  expect(parseWrk(output())).toEqual({
    requests: 59841,
    requestsPerSecond: 59790.12,
    p50Ms: 0.98,
    p99Ms: 0.5,
  })
})

const failures = [
  '  Non-2xx or 3xx responses: 12\n',
  '  Socket errors: connect 0, read 3, write 0, timeout 0\n',
]

test.each(failures)('refuses a run with %p', (line) => {
  expect(() => parseWrk(output(line))).toThrow(line.trim())
})
