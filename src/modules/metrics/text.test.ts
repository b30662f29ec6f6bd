import { expect, test } from 'bun:test'
import { counter, metricsText } from './text.ts'

test('labels are escaped, and every line ends', () => {
  const labels = { a: 'x"y\\z\n', b: '2' }
  const metric = { ...counter('svc_x_total', 'Things', 1), samples: [{ labels, value: 1.5 }, { value: 2 }] }
  expect(metricsText([metric])).toBe(
    '# HELP svc_x_total Things\n# TYPE svc_x_total counter\nsvc_x_total{a="x\\"y\\\\z\\n",b="2"} 1.5\nsvc_x_total 2\n',
  )
})
