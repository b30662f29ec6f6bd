import { Elysia } from 'elysia'
import type { Context } from '../src/context.ts'
import type { Explainer } from '../src/modules/explain/service.ts'
import { aliasPages } from './aliases/routes.ts'
import { commandPages } from './commands/routes.ts'
import { comparePages } from './compare/routes.ts'
import { recordPages } from './data/record-routes.ts'
import { dataPages } from './data/routes.ts'
import { deploymentPages } from './deployments/routes.ts'
import { domainPages } from './domains/routes.ts'
import { trafficPages } from './domains/traffic-routes.ts'
import { filePages } from './files/routes.ts'
import { peoplePages } from './people/routes.ts'
import { insightPages } from './projects/insight-routes.ts'
import { publishPages } from './projects/publish-routes.ts'
import { projectPages } from './projects/routes.ts'
import { settingsPages } from './projects/settings-routes.ts'
import { releasePages } from './releases/routes.ts'
import { retentionPages } from './retention/routes.ts'
import { rulesPages } from './rules/routes.ts'
import { rulePages } from './rules/rule-routes.ts'
import { ruleSetPages } from './rules/rule-set-routes.ts'
import { ruleTestPages } from './rules/rule-test-routes.ts'
import { runsPages } from './rules/run-routes.ts'
import { schedulePages } from './schedules/routes.ts'
import { webhookPages } from './webhooks/routes.ts'
import { certificatePages } from './workspace/certificate-routes.ts'
import { keyPages } from './workspace/key-routes.ts'
import { operationsPages } from './workspace/operations-routes.ts'
import { workspacePages } from './workspace/routes.ts'
import { undoPages } from './workspace/undo-routes.ts'

/** Projects and the workspace. Each page needs the same access as the corresponding API call. */
export const adminPages = (ctx: Context, explainer: Explainer) =>
  new Elysia()
    .use(commandPages(ctx))
    .use(publishPages(ctx))
    .use(projectPages(ctx))
    .use(insightPages(ctx))
    .use(deploymentPages(ctx))
    .use(comparePages(ctx))
    .use(aliasPages(ctx))
    .use(rulesPages(ctx))
    .use(rulePages(ctx))
    .use(ruleSetPages(ctx))
    .use(ruleTestPages(ctx, explainer))
    .use(runsPages(ctx))
    .use(domainPages(ctx))
    .use(trafficPages(ctx))
    .use(dataPages(ctx))
    .use(recordPages(ctx))
    .use(filePages(ctx))
    .use(peoplePages(ctx))
    .use(settingsPages(ctx))
    .use(schedulePages(ctx))
    .use(retentionPages(ctx))
    .use(releasePages(ctx))
    .use(operationsPages(ctx, explainer))
    .use(certificatePages(ctx))
    .use(keyPages(ctx))
    .use(webhookPages(ctx))
    .use(workspacePages(ctx))
    .use(undoPages(ctx))
