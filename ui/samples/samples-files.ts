// Test support: samples of the pages of files.

import { storedFilePage } from '../files/file.ts'
import { filesPage, foundFilesPage } from '../files/files.ts'
import { sample } from './sample.ts'
import { at, none, owner, viewer } from './sample-data.ts'

const file = {
  id: '019aa1f9-5dad-7c85-80f5-eb591f10b29b',
  key: 'acme/website/uploads/pictures/2026-11-20/0e3f2f1a-5c3e-4f6a-9a7c-0123456789ab-hut.png',
  path: 'pictures/2026-11-20/0e3f2f1a-5c3e-4f6a-9a7c-0123456789ab-hut.png',
  url: '/api/uploads/pictures/2026-11-20/0e3f2f1a-5c3e-4f6a-9a7c-0123456789ab-hut.png',
  size: 1_234_567,
  contentType: 'image/png',
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  isRegistered: true,
  createdAt: at,
  updatedAt: at,
}
const record = { schemaId: 's1', schemaName: 'pictures', recordId: 'r1' }
const detail = { file, type: 'image/png', shown: { kind: 'image' as const }, record }
const one = { page: 1, pages: 1, total: 2 }

export const fileSamples = [
  sample('files', filesPage, {
    ...owner,
    folder: 'pictures/',
    entries: [
      { name: '2026-11-20', id: null, files: 1203, bytes: 98_000_000 },
      { name: '0e3f2f1a-5c3e-4f6a-9a7c-0123456789ab-hut.png', id: file.id, files: 1, bytes: 1_234_567 },
    ],
    inAll: { files: 1204, bytes: 99_234_567 },
    pages: { page: 1, pages: 3, total: 204 },
    failed: {
      intent: 'delete-folder',
      error: { message: 'Meanwhile the folder has another number of files: 3. Look again.' },
      values: {},
    },
  }),
  sample('files-empty', filesPage, {
    ...owner,
    ...{ folder: '', entries: [], inAll: { files: 0, bytes: 0 }, pages: { ...one, total: 0 } },
  }),
  sample('files-no-folder', filesPage, {
    ...viewer,
    ...{ folder: 'nothing/', entries: [], inAll: { files: 0, bytes: 0 }, pages: { ...one, total: 0 } },
  }),
  sample('files-found', foundFilesPage, { ...owner, prefix: 'pictures/2026', files: [file], pages: one }),
  sample('files-none-found', foundFilesPage, { ...viewer, prefix: 'x', files: [], pages: none.pagination }),
  sample('file-of-project', storedFilePage, { ...owner, detail }),
  sample('file-of-project-text', storedFilePage, {
    ...viewer,
    detail: {
      ...{ file, type: 'text/html', record: null },
      shown: { kind: 'text' as const, text: '<script>alert(1)</script>' },
    },
  }),
  sample('file-of-project-video', storedFilePage, {
    ...viewer,
    detail: { ...detail, type: 'video/mp4', shown: { kind: 'video' as const } },
  }),
  sample('file-of-project-binary', storedFilePage, { ...viewer, detail: { ...detail, shown: null } }),
]
