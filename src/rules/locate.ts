import type { Path } from './checks.ts'

/**
 * The path that `steps[0].config.fields.a.b` names in a value. Keys may contain dots. Stops where the value has
 * nothing.
 */
export function locate(value: unknown, text: string): Path {
  const path: (string | number)[] = []
  let node = value
  let rest = text
  while (rest !== '' && typeof node === 'object' && node !== null) {
    const index = /^\[(\d+)\]/.exec(rest)
    if (index !== null) {
      const key = Array.isArray(node) ? Number(index[1]) : String(index[1])
      path.push(key)
      node = (node as Record<string | number, unknown>)[key]
      rest = rest.slice(index[0].length).replace(/^\./, '')
      continue
    }
    const key = Object.keys(node)
      .filter((one) => one !== '' && rest.startsWith(one) && /^($|\.|\[)/.test(rest.slice(one.length)))
      .sort((a, b) => b.length - a.length)[0]
    if (key === undefined) break
    path.push(key)
    node = (node as Record<string, unknown>)[key]
    rest = rest.slice(key.length).replace(/^\./, '')
  }
  return path
}
