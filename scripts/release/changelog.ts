/** What stands below the heading `## [version]` of a changelog (keepachangelog.com); empty without such a section. */
export function notesOf(changelog: string, version: string): string {
  const lines = changelog.split(/\r?\n/)
  const start = lines.findIndex((line) => headingVersion(line) === version)
  if (start < 0) return ''
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => line.startsWith('## '))
  return (end < 0 ? rest : rest.slice(0, end)).join('\n').trim()
}

const headingVersion = (line: string): string | undefined => /^## \[?([^\]\s]+)\]?/.exec(line)?.[1]
