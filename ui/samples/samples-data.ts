// Test support: samples of the data pages, which show schemas and records.

import type { SchemaField } from '../../src/domain/schema-fields.ts'
import { dataPage } from '../data/data.ts'
import { newRecordPage, recordPage } from '../data/record.ts'
import { recordsPage } from '../data/records.ts'
import { newSchemaPage, schemaPage } from '../data/schema.ts'
import { EMPTY_ROW, rowsOfFields } from '../data/schema-form.ts'
import { sample } from './sample.ts'
import { apiUrl, at, none, owner, viewer, wrong } from './sample-data.ts'

const fields: SchemaField[] = [
  { name: 'email', type: 'email', required: true, unique: true },
  { name: 'text', type: 'text', required: true, unique: false },
  { name: 'stars', type: 'integer', required: false, unique: false, default: 5 },
  { name: 'isRead', type: 'boolean', required: false, unique: false, default: false },
  { name: 'visit', type: 'date', required: false, unique: false },
  { name: 'answered', type: 'datetime', required: false, unique: false },
  { name: 'extra', type: 'json', required: false, unique: false },
]
const schema = { id: 's1', projectId: 'p1', name: 'messages', fields, createdAt: at, updatedAt: at }
const use = {
  ruleId: 'r1',
  pathPattern: '/api/messages',
  method: 'POST',
  methods: null,
  isEnabled: true,
  ruleSet: 'book',
  alias: null,
  handlers: ['data_create'],
}
const usage = { records: 12_345, sizeBytes: 2_400_000, isSizeExact: false }
const record = {
  id: '019aa1f9-5dad-7c85-80f5-eb591f10b29b',
  email: 'linus@example.com',
  text: `Where is the hut?\n${'It is a long way from here. '.repeat(30)}`,
  stars: 4,
  isRead: true,
  visit: '2026-12-24',
  answered: at,
  extra: { from: 'contact', tags: ['a', 'b'] },
  createdAt: at,
  updatedAt: at,
}
const bare = {
  ...{ ...record, id: '019aa1f9-5dad-7c85-80f5-eb591f10b29c', email: '', text: 'Hi', stars: null },
  ...{ isRead: false, visit: null, answered: null, extra: null },
}
const newest = { filters: [], sort: 'createdAt', order: 'desc' as const, page: 1, offset: 0 }
const found = { data: [record, bare], pagination: { page: 1, limit: 50, total: 120, pages: 3 } }

export const dataSamples = [
  sample('data', dataPage, {
    ...owner,
    schemas: [
      {
        ...schema,
        usage,
        uses: [use, { ...use, ruleId: 'r2', ruleSet: null, alias: 'staging', isEnabled: false }],
      },
      { ...schema, id: 's2', fields: [], usage: { records: 0, sizeBytes: 0, isSizeExact: true }, uses: [] },
    ],
    apiUrl,
  }),
  sample('data-empty', dataPage, { ...owner, schemas: [], apiUrl }),
  sample('data-viewer', dataPage, { ...viewer, schemas: [], apiUrl }),
  sample('schema-new', newSchemaPage, { ...owner, rows: [EMPTY_ROW, EMPTY_ROW], name: '' }),
  sample('schema-new-failed', newSchemaPage, {
    ...owner,
    rows: [{ ...EMPTY_ROW, name: '1a', type: 'json', isUnique: true }],
    name: 'a/b',
    failed: {
      intent: 'save',
      values: {},
      error: {
        message: 'Check the marked fields.',
        details: ['name', 'fields[0].name', 'fields[0].unique'].flatMap((path) => wrong(path).details),
      },
    },
  }),
  sample('schema', schemaPage, {
    ...owner,
    ...{ schema, usage, uses: [use], rows: [...rowsOfFields(fields), EMPTY_ROW], name: 'messages' },
    removing: ['stars'],
  }),
  sample('schema-delete-failed', schemaPage, {
    ...owner,
    ...{ schema, usage, uses: [], rows: rowsOfFields(fields), name: 'messages', removing: [] },
    failed: { intent: 'delete', error: wrong('confirm'), values: { confirm: 'x' } },
  }),
  sample('schema-viewer', schemaPage, {
    ...viewer,
    ...{ schema, usage, uses: [], rows: [], name: 'messages', removing: [] },
  }),
  sample('records', recordsPage, { ...owner, schema, query: newest, found }),
  sample('records-filtered', recordsPage, {
    ...owner,
    schema,
    query: {
      filters: [
        { field: 'stars', op: 'gte' as const, value: '3' },
        { field: 'text', op: 'like' as const, value: '%hut%' },
      ],
      ...{ sort: 'stars', order: 'asc' as const, page: 2 },
      offset: 0,
    },
    found,
  }),
  sample('records-none-found', recordsPage, {
    ...owner,
    schema,
    query: { ...newest, filters: [{ field: 'email', op: 'in' as const, value: ['a', 'b'] }] },
    found: none,
  }),
  sample('records-problem', recordsPage, {
    ...owner,
    ...{
      schema,
      query: newest,
      found: null,
      problem: 'stars is compared with a value that is not of type integer',
    },
  }),
  sample('records-empty', recordsPage, {
    ...owner,
    schema: { ...schema, fields: [] },
    query: newest,
    found: none,
  }),
  sample('records-viewer', recordsPage, { ...viewer, schema, query: newest, found }),
  sample('record', recordPage, { ...owner, schema, record }),
  sample('record-failed', recordPage, {
    ...owner,
    ...{ schema, record },
    failed: { intent: 'save', error: wrong('email'), values: { 'field.email': 'nobody' } },
  }),
  sample('record-long', recordPage, { ...owner, schema, record: { ...record, text: 'x'.repeat(260_000) } }),
  sample('record-viewer', recordPage, { ...viewer, schema, record }),
  sample('record-new', newRecordPage, { ...owner, schema }),
]
