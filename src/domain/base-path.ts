import { normalizeAssetPath } from './asset-path.ts'

/**
 * The folder of a deployment that is served, as it is stored: `dist`, `/dist/` and `./dist` are `/dist`; `/` is the
 * deployment itself, `''`. `flaw` says why a text names none.
 */
export function parseBasePath(text: string): { basePath: string } | { flaw: string } {
  const result = normalizeAssetPath(withoutSlashBehind(text) || '/', 'sender')
  if (result.kind === 'refused') return { flaw: result.reason }
  if (result.kind === 'left_out') return { flaw: 'names a folder whose files are left out of deployments' }
  return { basePath: result.kind === 'directory' ? '' : `/${result.path}` }
}

/** A loop, because a regular expression would start again at each slash of a field made only of slashes. */
function withoutSlashBehind(path: string): string {
  let end = path.length
  while (end > 0 && (path[end - 1] === '/' || path[end - 1] === '\\')) end -= 1
  return path.slice(0, end)
}
