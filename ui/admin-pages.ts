import { Elysia } from 'elysia'
import type { Context } from '../src/context.ts'
import { aliasPages } from './alias-pages.ts'
import { deploymentPages } from './deployment-pages.ts'
import { keyPages } from './key-pages.ts'
import { operationsPages } from './operations-pages.ts'
import { peoplePages } from './people-pages.ts'
import { projectPages } from './project-pages.ts'
import { settingsPages } from './settings-pages.ts'
import { workspacePages } from './workspace-pages.ts'

/** Projects and the workspace. Each page asks for the access that the API asks for the same. */
export const adminPages = (ctx: Context) =>
  new Elysia()
    .use(projectPages(ctx))
    .use(deploymentPages(ctx))
    .use(aliasPages(ctx))
    .use(peoplePages(ctx))
    .use(settingsPages(ctx))
    .use(operationsPages(ctx))
    .use(keyPages(ctx))
    .use(workspacePages(ctx))
