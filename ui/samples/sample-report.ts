import type { ReportView } from '../../src/modules/reports/model.ts'

/** A report with findings of each severity. */
export const sampleReport: ReportView = {
  deploymentId: '0197f0a0-0000-7000-8000-0000000000d2',
  status: 'complete',
  comparedWith: {
    alias: 'production',
    deploymentId: '0197f0a0-0000-7000-8000-0000000000d1',
    commitSha: '0123456789abcdef0123456789abcdef01234567',
  },
  files: { added: 1, changed: 1, removed: 0, unchanged: 41 },
  paths: [
    { kind: 'added', path: 'news/index.html' },
    { kind: 'changed', path: 'index.html' },
  ],
  bytes: { identity: 48_213, br: 12_004, zstd: 12_310, gzip: 13_127 },
  routing: {
    redirects: 3,
    headers: 1,
    refused: 1,
    problems: [{ file: '_redirects', line: 12, message: 'the line has no target' }],
  },
  findings: [
    {
      kind: 'redirect-refused',
      severity: 'error',
      file: '_redirects',
      line: 12,
      target: null,
      message: 'the line has no target',
    },
    {
      kind: 'link-missing',
      severity: 'warning',
      file: 'index.html',
      line: 8,
      target: '/contcat',
      message: 'nothing answers at /contcat; mend the link, or add a redirect',
    },
    {
      kind: 'left-out',
      severity: 'info',
      file: '.eslintrc',
      line: null,
      target: null,
      message: 'dot files are not published',
    },
  ],
  kinds: { 'redirect-refused': 1, 'link-missing': 214, 'left-out': 1 },
  truncated: false,
  createdAt: '2026-11-01T10:00:00.000Z',
  completedAt: '2026-11-01T10:00:05.000Z',
}
