/** Semantic Versioning 2.0, the form that semver.org gives. */
const FORM =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][\da-zA-Z-]*))*))?(?:\+([\da-zA-Z-]+(?:\.[\da-zA-Z-]+)*))?$/

const MAX_LENGTH = 100

export const isVersion = (text: string): boolean => text.length <= MAX_LENGTH && FORM.test(text)

/** What stands behind the dash: `rc.1` of `1.2.0-rc.1`; undefined of a version that is none. */
export const preReleaseOf = (version: string): string | undefined => FORM.exec(version)?.[4]

/** Precedence as semver.org §11 has it: below 0 when `a` is older. Builds of one version are in the order of their text. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [FORM.exec(a) ?? [], FORM.exec(b) ?? []]
  for (const part of [1, 2, 3]) {
    const order = compareNumbers(left[part] ?? '', right[part] ?? '')
    if (order !== 0) return order
  }
  return comparePreReleases(left[4], right[4]) || compareTexts(a, b)
}

function comparePreReleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined)
  const [left, right] = [a.split('.'), b.split('.')]
  for (const [place, identifier] of left.entries()) {
    const other = right[place]
    if (other === undefined) return 1
    const order = compareIdentifiers(identifier, other)
    if (order !== 0) return order
  }
  return left.length - right.length
}

/** Numbers are lower than words. */
function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (isNumber && isOtherNumber) return compareNumbers(a, b)
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1
  return compareTexts(a, b)
}

/** Digits without a leading zero, of any length. */
const compareNumbers = (a: string, b: string): number => a.length - b.length || compareTexts(a, b)

const compareTexts = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)
