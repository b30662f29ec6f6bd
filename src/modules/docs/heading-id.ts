/** Ids for the headings of one document, as GitHub makes them. */
export function headingIds(): (heading: string) => string {
  const taken = new Set<string>()
  return (heading) => {
    const id = slug(heading)
    let free = id
    for (let again = 1; taken.has(free); again++) free = `${id}-${again}`
    taken.add(free)
    return free
  }
}

const slug = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
