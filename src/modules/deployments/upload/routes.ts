import { Elysia, t } from 'elysia'
import type { Context } from '../../../context.ts'
import { beginUpload, receiveContents } from '../manifest.ts'
import { uploadSlotView } from '../model.ts'
import { uploaderOf } from '../publish/access.ts'
import { publishDeployment, publishZipForm } from '../upload.ts'
import { publishedAnswer, toPublishedAnswer, toZipAnswer, zipAnswer } from './answers.ts'
import { archiveQuery, contentsBody, deploymentBody, manifestBody, zipBody } from './docs.ts'

/** All routes that publish. The handlers read the bodies themselves, as streams. contract §5.2. */
export const deploymentUploadRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/deployments', tags: ['Deployments'] })
    .post(
      '/',
      async ({ request, status }) => status(201, toPublishedAnswer(await publishDeployment(ctx, request))),
      {
        parse: 'none',
        response: { 201: publishedAnswer },
        detail: {
          summary: 'Publish files, or a zip, tar or tar.gz archive',
          requestBody: deploymentBody,
          parameters: archiveQuery,
        },
      },
    )
    .post(
      '/zip',
      async ({ request, status }) => status(201, toZipAnswer(ctx, await publishZipForm(ctx, request))),
      {
        parse: 'none',
        response: { 201: zipAnswer },
        detail: { summary: 'Publish a zip archive that comes in a form', requestBody: zipBody },
      },
    )
    .post(
      '/prepare-batch-upload',
      ({ request }) => {
        uploaderOf(ctx, request)
        return { presignedUrlsSupported: false as const }
      },
      {
        parse: 'none',
        response: t.Object({ presignedUrlsSupported: t.Literal(false) }),
        detail: { summary: 'Whether presigned uploads are available: never' },
      },
    )
    .post('/manifest', async ({ request, status }) => status(201, await beginUpload(ctx, request)), {
      parse: 'none',
      response: { 201: uploadSlotView },
      detail: {
        summary: 'Begin a delta upload; returns which contents are missing',
        requestBody: manifestBody,
      },
    })
    .put(
      '/manifest/:uploadId',
      async ({ request, params, status }) =>
        status(201, toPublishedAnswer(await receiveContents(ctx, request, params.uploadId))),
      {
        parse: 'none',
        response: { 201: publishedAnswer },
        detail: { summary: 'Send the missing contents of a delta upload', requestBody: contentsBody },
      },
    )
