import { chooseRule } from './choose-rule.ts'
import type { Site } from './resolve-site.ts'

/** Public, the same for everybody, and no rule takes the request: whatever the answer is, it comes from the files. */
export const isFileOnly = (site: Site, method: string, path: string): boolean =>
  site.isOpen || (site.isShared && site.split === null && chooseRule(site.rules, method, path) === undefined)

/** Private, and otherwise the same: whoever may see it gets it from the files. */
export const isFileOnlyOnceSeen = (site: Site, method: string, path: string): boolean =>
  !site.isShared && site.split === null && chooseRule(site.rules, method, path) === undefined
