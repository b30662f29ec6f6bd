/** The API's paths, whatever the method: for 405, and for site hosts, where other paths below /api are files. */
type RouteTable = { methodsOf(path: string): readonly string[] }

type Node = {
  children: Map<string, Node>
  param: Node | null
  rest: readonly string[] | null
  methods: string[]
}

const newNode = (): Node => ({ children: new Map(), param: null, rest: null, methods: [] })

export function createRouteTable(routes: Iterable<{ method: string; path: string }>): RouteTable {
  const root = newNode()
  for (const { method, path } of routes) add(root, method, segmentsOf(path))
  return { methodsOf: (path) => find(root, segmentsOf(path), 0) }
}

/** A trailing slash makes no difference; an extra one inside makes a different path, as in the router. */
const segmentsOf = (path: string): string[] => path.replace(/^\//, '').replace(/\/$/, '').split('/')

function add(root: Node, method: string, segments: readonly string[]): void {
  let node = root
  for (const segment of segments) {
    if (segment === '*') {
      node.rest = [...(node.rest ?? []), method]
      return
    }
    if (segment.startsWith(':')) node = node.param ??= newNode()
    else {
      const next = node.children.get(segment) ?? newNode()
      node.children.set(segment, next)
      node = next
    }
  }
  node.methods.push(method)
}

function find(node: Node, segments: readonly string[], at: number): readonly string[] {
  const segment = segments[at]
  if (segment === undefined) return node.methods.length > 0 ? node.methods : (node.rest ?? [])
  const child = node.children.get(segment)
  const literal = child === undefined ? [] : find(child, segments, at + 1)
  if (literal.length > 0) return literal
  const param = node.param === null || segment === '' ? [] : find(node.param, segments, at + 1)
  return param.length > 0 ? param : (node.rest ?? [])
}
