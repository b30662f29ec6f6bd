import { expect, test } from 'bun:test'
import { validatePipelineConfig } from '../validate.ts'

const schemaId = '$schema:uploads'
const told = (handlerType: string, config: Record<string, unknown>) => {
  const { errors, warnings } = validatePipelineConfig({ steps: [{ id: 's', handlerType, config }] })
  return { errors: errors.map(({ path, message }) => `${path} ${message}`), warnings }
}

/** As the editor of the original writes them, and as people do. */
test.each<[string, Record<string, unknown>]>([
  [
    'file_upload_handler',
    {
      subDir: 'youtube-thumbnail',
      schemaId,
      dateBucket: false,
      maxFileSize: 10485760,
      allowedMimeTypes: ['image/*'],
    },
  ],
  [
    'file_upload_handler',
    {
      schemaId: '0b6ad0a5-6d3f-4a8b-9c59-1f2f3c4d5e6f',
      subDir: 'projects/{{request.body.projectId}}',
      sourceUrl: 'request.body.url',
      maxFileSize: '5242880',
      allowedMimeTypes: ['*/*'],
      extraFields: { project_id: 'request.body.projectId', by: 'user.id', kind: 'thumbnail' },
      condition: '!request.body.skip',
    },
  ],
  [
    'presigned_upload',
    {
      subDir: 'videos/{{request.body.videoId}}/audio',
      filename: 'request.body.filename',
      expiresIn: 3600,
      dateBucket: true,
      maxFileSize: 2147483648,
      allowedMimeTypes: ['audio/*'],
    },
  ],
  [
    'presigned_upload',
    {
      subDir: 'sites/{{request.body.id}}',
      keyStrategy: 'verbatim',
      key: 'request.body.path',
      expiresIn: 86400,
    },
  ],
  [
    'register_upload',
    {
      subDir: 'videos/{{request.body.videoId}}/audio',
      schemaId,
      storageKey: 'request.body.storageKey',
      maxFileSize: 2147483648,
      originalName: 'request.body.originalName',
      allowedMimeTypes: ['audio/*'],
      deleteOnViolation: false,
      extraFields: { video_id: 'request.body.videoId' },
    },
  ],
  ['file_serve_handler', { subDir: 'sheets', cacheability: 'public', cacheMaxAge: 86400 }],
  ['file_serve_handler', { key: 'sites/{{request.params.0}}/index.html', allowScripts: true }],
  ['signed_url', { path: 'input.path', expiresIn: 604800, filename: 'input.name' }],
  ['file_delete', { prefix: 'projects/{{request.body.projectId}}' }],
  ['file_delete', { keys: 'input.keys', dryRun: true }],
])('%s takes %j', (handler, config) => {
  expect(told(handler, config)).toEqual({ errors: [], warnings: [] })
})

test.each<[string, Record<string, unknown>, string]>([
  ['file_upload_handler', { schemaId }, 'steps[0].config.subDir is required'],
  ['file_upload_handler', { subDir: 'a' }, 'steps[0].config.schemaId is required'],
  ['register_upload', { subDir: 'a' }, 'steps[0].config.schemaId is required'],
  ['signed_url', {}, 'steps[0].config.path is required'],
  ['file_serve_handler', {}, 'steps[0].config needs subDir or key'],
  [
    'file_serve_handler',
    { key: 'a', cacheability: 'shared' },
    'steps[0].config.cacheability must be one of private, public',
  ],
  [
    'presigned_upload',
    { subDir: 'a', keyStrategy: 'hash' },
    'steps[0].config.keyStrategy must be one of uuid, verbatim',
  ],
  ...[{}, { key: 'a', prefix: 'b' }, { keys: [], dryRun: true, key: 'a' }].map(
    (config): [string, Record<string, unknown>, string] => [
      'file_delete',
      config,
      'steps[0].config needs exactly one of prefix, key and keys, to say what to delete',
    ],
  ),
])('%s does not take %j', (handler, config, message) => {
  expect(told(handler, config).errors).toEqual([message])
})

test.each<[string, Record<string, unknown>, string]>([
  ['file_upload_handler', { schemaId, subDir: 'a/../b' }, 'subDir'],
  ['file_upload_handler', { schemaId, subDir: ' / ' }, 'subDir'],
  ['file_upload_handler', { schemaId, subDir: 'a', maxFileSize: 0 }, 'maxFileSize'],
  ['file_upload_handler', { schemaId, subDir: 'a', allowedMimeTypes: [] }, 'allowedMimeTypes'],
  [
    'file_upload_handler',
    { schemaId, subDir: 'a', allowedMimeTypes: ['*/*', '.png'] },
    'allowedMimeTypes[1]',
  ],
  ['file_upload_handler', { schemaId, subDir: 'a', sourceUrl: 'http://example.org/a' }, 'sourceUrl'],
  ['presigned_upload', { subDir: 'a', expiresIn: 0 }, 'expiresIn'],
  ['signed_url', { path: 'a', expiresIn: -1 }, 'expiresIn'],
  ['file_serve_handler', { key: 'a//b', cacheMaxAge: -1 }, 'key'],
  ['file_delete', { prefix: 'a\\b' }, 'prefix'],
])('%s never works with %j', (handler, config, key) => {
  const { errors, warnings } = told(handler, config)
  expect(errors).toEqual([])
  expect(warnings[0]).toMatchObject({ kind: 'never_works', path: `steps[0].config.${key}` })
})
