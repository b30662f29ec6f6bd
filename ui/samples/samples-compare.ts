import { comparisonPage, nothingToComparePage } from '../compare/comparison-page.ts'
import { compareFilePage } from '../compare/file-page.ts'
import { sample } from './sample.ts'
import { aliases, comparison, deployments, newest, older, owner } from './sample-data.ts'

const compared = {
  ...owner,
  from: older,
  to: newest,
  chosen: { from: String(older.number), to: 'production' },
}
const changedFile = {
  path: 'index.html',
  fromPath: null,
  kind: 'changed' as const,
  mimeType: 'text/html',
  isText: true,
  tooLarge: false,
  from: { path: 'index.html', size: 8000 },
  to: { path: 'index.html', size: 9000 },
  hunks: [
    {
      fromStart: 1,
      fromLines: 5,
      toStart: 1,
      toLines: 5,
      lines: [
        ' <h1>Acme</h1>',
        '-<p>We bake since 1920.\r',
        '+<p>We have baked bread for you since 1920, every single day but Sunday.',
        '+<p>Come in.',
        '-<p>Closed',
        ' <footer>Acme</footer>',
        '-</html>',
        '\\ No newline at end of file',
        '+</html>',
      ],
    },
  ],
}
const image = { ...changedFile, path: 'team/us.jpg', mimeType: 'image/jpeg', isText: false, hunks: [] }

export const compareSamples = [
  sample('compare', comparisonPage, {
    ...compared,
    comparison: {
      from: older,
      to: newest,
      counts: comparison.counts,
      data: comparison.paths.map((row) => ({ ...row, mimeType: 'text/html', isText: true })),
      pagination: { page: 1, limit: 100, total: 4, pages: 1 },
    },
    aliases,
    deployments,
  }),
  sample('compare-same', comparisonPage, {
    ...compared,
    from: newest,
    comparison: {
      from: newest,
      to: newest,
      counts: { added: 0, changed: 0, removed: 0, moved: 0, unchanged: 8 },
      data: [],
      pagination: { page: 1, limit: 100, total: 0, pages: 0 },
    },
    aliases,
    deployments,
  }),
  sample('compare-nothing', nothingToComparePage, owner),
  sample('compare-file', compareFilePage, { ...compared, file: changedFile, view: 'unified' }),
  sample('compare-file-split', compareFilePage, { ...compared, file: changedFile, view: 'split' }),
  sample('compare-image', compareFilePage, { ...compared, file: image, view: 'unified' }),
  sample('compare-large', compareFilePage, {
    ...compared,
    file: { ...image, path: 'data.bin', mimeType: 'application/octet-stream', tooLarge: true, from: null },
    view: 'unified',
  }),
]
