import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { assetsAnswer, toAssetsAnswer } from '../deployments/upload/answers.ts'
import { filesBody } from '../deployments/upload/docs.ts'
import { publishAssets } from '../deployments/upload.ts'

/** spec: POST /api/assets/upload. */
export const assetUploadRoutes = (ctx: Context) =>
  new Elysia({ prefix: '/api/assets', tags: ['Assets'] }).post(
    '/upload',
    async ({ request, status }) => status(201, toAssetsAnswer(await publishAssets(ctx, request))),
    {
      parse: 'none',
      response: { 201: assetsAnswer },
      detail: { summary: 'Upload files of a commit', requestBody: filesBody },
    },
  )
