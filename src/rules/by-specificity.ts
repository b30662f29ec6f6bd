import { compareSpecificity } from '../domain/path-pattern.ts'
import type { CompiledRule } from './push.ts'

type Placed = {
  pathPattern: string
  proxyType: CompiledRule['proxyType']
  method?: string | null | undefined
}

/** The most specific first. A placeholder of a redirect is as open as a star. */
export const compareRulesBySpecificity = (a: Placed, b: Placed): number =>
  compareSpecificity(weighed(a), weighed(b))

const weighed = ({ pathPattern, proxyType, method = null }: Placed) => ({
  pathPattern: proxyType === 'redirect' ? pathPattern.replace(/\/:[A-Za-z]\w*(?=\/|$)/g, '/*') : pathPattern,
  method,
})
