import { Elysia } from 'elysia'
import type { Context } from '../../context.ts'
import { MAX_FILE_BYTES } from '../../domain/yaml-file.ts'
import { guard, type PathInput } from '../auth/guard.ts'
import { aboutProject } from '../projects/service.ts'
import { aboutRuleId } from '../proxy-rules/service.ts'
import { readRuleView, ruleExampleList, ruleTextBody } from './model.ts'
import { type RuleTexts, readRule, ruleAsText } from './service.ts'

/** As JSON a character of the text may take six. */
const MAX_BODY_BYTES = 6 * MAX_FILE_BYTES + 1024

/** Rules as YAML. contract 17.5. */
export const ruleTextRoutes = (ctx: Context, texts: RuleTexts) =>
  new Elysia({ tags: ['Proxy rules'] })
    .use(guard(ctx))
    .post('/api/projects/:id/rules/validate', ({ grant, body }) => readRule(ctx, texts, grant, body.yaml), {
      may: {
        action: 'traffic:configure',
        on: ({ params }: PathInput) => aboutProject(ctx, params['id']),
        maxBodyBytes: MAX_BODY_BYTES,
      },
      body: ruleTextBody,
      response: readRuleView,
      detail: {
        summary: 'What is wrong with a rule as YAML, and the rule that it makes; nothing is stored',
        description: 'The keys of a rule file, with pathPattern. At most 1 MiB.',
      },
    })
    .get(
      '/api/proxy-rules/:id/yaml',
      ({ grant, params }) =>
        new Response(ruleAsText(ctx, texts, grant, params.id), { headers: YAML_HEADERS }),
      {
        may: {
          action: 'admin:read',
          on: ({ params }: PathInput) => aboutRuleId(ctx, params['id']),
        },
        detail: {
          summary: 'A rule as YAML, without header values',
          responses: {
            200: { description: 'Success', content: { 'text/yaml': { schema: { type: 'string' } } } },
          },
        },
      },
    )
    .get('/api/rule-examples', () => ({ examples: [...texts.examples] }), {
      may: { action: 'admin:list' },
      response: ruleExampleList,
      detail: { summary: 'Rules as YAML to start from' },
    })

const YAML_HEADERS = { 'content-type': 'text/yaml; charset=utf-8' }
