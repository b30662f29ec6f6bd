const MAX_ALTERNATIVES = 1_000

/**
 * Whether a path (with `/`, relative) is taken by lines of glob patterns: the last line that matches decides,
 * `!` in front of it leaves out. Knows `**` as a whole part, `*`, `?` and `{a,b}`; a pattern without any of them
 * also takes all that is below it.
 *
 * @param {string[]} lines
 * @returns {(path: string) => boolean}
 */
export function createMatcher(lines) {
  const rules = lines.map((line) => {
    const isNegated = line.startsWith('!')
    return { takes: !isNegated, expression: toRegExp(isNegated ? line.slice(1).trim() : line) }
  })
  return (path) => rules.findLast(({ expression }) => expression.test(path))?.takes ?? false
}

/** @param {string} pattern */
function toRegExp(pattern) {
  const plain = pattern.replace(/^(?:\.\/)+/, '').replace(/^\.$/, '**')
  const whole = plain.endsWith('/') ? `${plain}**` : plain
  const below = /[*?{]/.test(whole) ? '' : '(?:/.*)?'
  const alternatives = expandBraces(whole).map(alternativeToRegExp)
  return new RegExp(`^(?:${alternatives.join('|')})${below}$`, 's')
}

/** @param {string} pattern */
function alternativeToRegExp(pattern) {
  const parts = pattern.split('/').filter((part, index, all) => part !== '**' || all[index - 1] !== '**')
  return parts
    .map((part, index) => {
      const isLast = index === parts.length - 1
      if (part === '**') return isLast ? '.+' : '(?:.*/)?'
      return partToRegExp(part) + (isLast ? '' : '/')
    })
    .join('')
}

/** @param {string} part */
function partToRegExp(part) {
  return part
    .replace(/[.+^$()|[\]\\{}]/g, '\\$&')
    .replace(/\*+/g, '[^/]*')
    .replace(/\?/g, '[^/]')
}

/**
 * `a.{js,{css,map}}` becomes `a.js`, `a.css`, `a.map`; braces without a comma or a partner stand for themselves.
 *
 * @param {string} pattern
 */
function expandBraces(pattern) {
  /** @type {string[]} */
  const expanded = []
  const pending = [pattern]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const group = firstGroup(next)
    if (group === undefined) expanded.push(next)
    else pending.push(...group.options.map((option) => group.before + option + group.after))
    if (expanded.length + pending.length > MAX_ALTERNATIVES) throw new Error(`Too many braces in ${pattern}`)
  }
  return expanded
}

/** @param {string} pattern */
function firstGroup(pattern) {
  for (let open = pattern.indexOf('{'); open !== -1; open = pattern.indexOf('{', open + 1)) {
    const group = groupAt(pattern, open)
    if (group !== undefined) return group
  }
  return undefined
}

/**
 * @param {string} pattern
 * @param {number} open where its brace stands
 */
function groupAt(pattern, open) {
  /** @type {string[]} */
  const options = []
  let depth = 0
  let start = open + 1
  for (let index = open; index < pattern.length; index += 1) {
    const character = pattern[index]
    if (character === '{') depth += 1
    if (character === '}') depth -= 1
    if ((character === ',' && depth === 1) || depth === 0) {
      options.push(pattern.slice(start, index))
      start = index + 1
    }
    if (depth === 0)
      return options.length < 2
        ? undefined
        : { before: pattern.slice(0, open), options, after: pattern.slice(index + 1) }
  }
  return undefined
}
