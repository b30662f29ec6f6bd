// Publishing a site that a person drops or chooses: reading its files, finding its start page, and sending it.

/**
 * `paths` are those in the zip, or of the files; undefined if the zip cannot be read here. `isEmpty`: nothing was found,
 * not even what is left out.
 *
 * @typedef {{ zip?: File | undefined, entries: { path: string, file: File }[], paths: string[] | undefined,
 *   isEmpty: boolean }} Upload
 */

/** The same files as the server leaves out, so that they are not sent. contract §5. @param {string} part */
const isLeftOut = (part) =>
  (part.startsWith('.') && part !== '.well-known') || part === 'node_modules' || part === '__MACOSX'

/** @param {string} path */
const isKept = (path) => !path.split('/').some(isLeftOut)

/** A chosen folder is the site, so its own name is not part of the paths. */
function withoutTop(entries) {
  const [top] = entries[0]?.path.split('/') ?? []
  const isOne = entries.every(({ path }) => path.startsWith(`${top}/`))
  return isOne ? entries.map(({ path, file }) => ({ path: path.slice(top.length + 1), file })) : entries
}

/** What was dropped. Call it in the event's task: afterwards dropped items are out of reach. */
function droppedRoots(transfer) {
  const items = [...transfer.items].filter(({ kind }) => kind === 'file')
  return items.map((item) => ({ entry: item.webkitGetAsEntry(), file: item.getAsFile() }))
}

/** The files of what was dropped, and how many names were left out. `onFiles` is called with those found so far. */
async function filesOf(roots, onFiles) {
  /** @type {{ files: Upload['entries'], leftOut: number }} */
  const found = { files: [], leftOut: 0 }
  for (const { entry, file } of roots) {
    if (entry?.isDirectory === true) await addFilesBelow(entry, entry.name, found, onFiles)
    else found.files.push({ path: file.name, file })
  }
  return roots.length === 1 ? { ...found, files: withoutTop(found.files) } : found
}

async function addFilesBelow(folder, path, found, onFiles) {
  const reader = folder.createReader()
  // readEntries returns at most 100 entries per call, and none at the end.
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail))
    if (some.length === 0) return
    for (const entry of some) {
      const below = `${path}/${entry.name}`
      if (isLeftOut(entry.name)) found.leftOut += 1
      else if (entry.isDirectory) await addFilesBelow(entry, below, found, onFiles)
      else found.files.push({ path: below, file: await new Promise((done, fail) => entry.file(done, fail)) })
    }
    onFiles(found.files)
  }
}

/** A lone zip is unpacked by the server. @param {Upload['entries']} found @returns {Promise<Upload>} */
async function uploadOf(found, leftOut = 0) {
  const entries = found.filter(({ path }) => isKept(path))
  const isEmpty = found.length + leftOut === 0
  const [first] = entries
  if (entries.length === 1 && first !== undefined && /\.zip$/i.test(first.path))
    return { zip: first.file, entries, paths: await zipPaths(first.file), isEmpty }
  return { entries, paths: entries.map(({ path }) => path), isEmpty }
}

/** @param {string} name @param {boolean} isEmpty */
const emptyText = (name, isEmpty) =>
  isEmpty
    ? `${name} holds no files.`
    : `${name} holds no files to publish. Names that begin with a dot, node_modules and __MACOSX are left out.`

/** `['3 files', '12 KB']`: of a zip the files in it, and its own size. @param {Upload} upload */
function sizesOf({ zip, entries, paths }) {
  if (zip !== undefined) return [...(paths === undefined ? [] : [countOf(paths.length)]), sizeOf(zip.size)]
  return [countOf(entries.length), sizeOf(entries.reduce((sum, { file }) => sum + file.size, 0))]
}

/** @param {number} files */
const countOf = (files) => (files === 1 ? '1 file' : `${files} files`)

const START_PAGE = 'index.html'

/** The folder (`site/`) that a site lies in by mistake, as the server finds it. contract 12.9. @param {string[]} paths */
function nestedFolder(paths) {
  const tops = new Set(paths.filter((path) => path.includes('/')).map((path) => path.split('/', 1)[0]))
  const [top] = tops
  const isNested = tops.size === 1 && !paths.includes(START_PAGE) && paths.includes(`${top}/${START_PAGE}`)
  return isNested ? `${top}/` : undefined
}

const MAX_LEVELS = 3

/**
 * The folders (`dist/`) below `base` (empty, or ending in a slash) that have a start page, the shallowest first, as the
 * server finds them. contract 17.3.
 *
 * @param {string[]} paths @param {string} base
 */
function startFolders(paths, base) {
  const levelOf = (folder) => folder.slice(base.length).split('/').length - 1
  return paths
    .filter((path) => path.startsWith(base) && path.endsWith(`/${START_PAGE}`))
    .map((path) => path.slice(0, -START_PAGE.length))
    .filter((folder) => levelOf(folder) <= MAX_LEVELS)
    .sort((a, b) => levelOf(a) - levelOf(b) || (a < b ? -1 : 1))
}

/** The directory of a zip is at its end. APPNOTE 6.3.10 §4.3. */
const ZIP_END = 0x06054b50
const ZIP64_LOCATOR = 0x07064b50
const ZIP64_END = 0x06064b50
const ZIP_FILE = 0x02014b50
const ZIP_FILE_BYTES = 46
const ZIP_END_BYTES = 22
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024

/**
 * The paths in a zip as the server stores them, without what it leaves out. Undefined if the zip cannot be read: the
 * server says what is wrong with it.
 *
 * @param {Blob} file
 */
async function zipPaths(file) {
  const directory = await zipDirectory(file).catch(() => undefined)
  return directory === undefined
    ? undefined
    : zipNames(directory)
        ?.filter((path) => !path.endsWith('/'))
        .map((path) => path.split('/').filter((part) => part !== '' && part !== '.'))
        .filter((parts) => parts.length > 0 && !parts.some(isLeftOut))
        .map((parts) => parts.join('/').normalize('NFC'))
}

/** The names in a directory; undefined if it is not whole. @param {DataView} directory */
function zipNames(directory) {
  const names = []
  let at = 0
  while (at + ZIP_FILE_BYTES <= directory.byteLength && directory.getUint32(at, true) === ZIP_FILE) {
    const length = directory.getUint16(at + 28, true)
    const next =
      at + ZIP_FILE_BYTES + length + directory.getUint16(at + 30, true) + directory.getUint16(at + 32, true)
    if (next > directory.byteLength) return undefined
    const name = new Uint8Array(directory.buffer, directory.byteOffset + at + ZIP_FILE_BYTES, length)
    names.push(new TextDecoder('utf-8', { ignoreBOM: true }).decode(name).replaceAll('\\', '/'))
    at = next
  }
  return at === directory.byteLength ? names : undefined
}

/** @param {Blob} file */
async function zipDirectory(file) {
  const tailAt = Math.max(0, file.size - ZIP_END_BYTES - 0xffff)
  const tail = await viewOf(file, tailAt, file.size)
  let end = tail.byteLength - ZIP_END_BYTES
  while (tail.getUint32(end, true) !== ZIP_END) end -= 1
  let size = tail.getUint32(end + 12, true)
  let endsAt = tailAt + end
  if (end >= 20 && tail.getUint32(end - 20, true) === ZIP64_LOCATOR) {
    const at = Number(tail.getBigUint64(end - 12, true))
    const end64 = await viewOf(file, at, at + 56)
    if (end64.getUint32(0, true) !== ZIP64_END) return undefined
    size = Number(end64.getBigUint64(40, true))
    endsAt = at
  }
  return size > Math.min(endsAt, MAX_DIRECTORY_BYTES) ? undefined : viewOf(file, endsAt - size, endsAt)
}

/** @param {Blob} file @param {number} from @param {number} to */
const viewOf = async (file, from, to) => new DataView(await file.slice(from, to).arrayBuffer())

/** Takes the place of a commit. Random, because crypto.subtle needs https. */
function newSha() {
  const bytes = crypto.getRandomValues(new Uint8Array(20))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Sends the fields, and shows how far that is in the form's progress bar.
 *
 * @param {HTMLFormElement} form @param {string} address @param {FormData} fields
 * @param {{ onSent: () => void, onPublished: (deploymentId: string, projectId?: string) => void, onFailed: (message: string) => void }} on
 */
function sendForm(form, address, fields, { onSent, onPublished, onFailed }) {
  const box = partOf(form, '[data-progress]')
  const request = new XMLHttpRequest()
  const fail = (message) => {
    box.hidden = true
    onFailed(message)
  }
  showProgress(box, request.upload)
  request.upload.addEventListener('load', onSent)
  request.addEventListener('load', () => {
    const answer = request.response ?? {}
    const id = answer.deploymentId ?? answer.deployment?.id
    if (request.status === 201 && id !== undefined) onPublished(id, answer.projectId)
    else fail(answer.message ?? 'The server rejected the upload. Try again.')
  })
  request.addEventListener('error', () =>
    fail('The connection was lost and nothing was published. Try again.'),
  )
  request.addEventListener('abort', () => fail(''))
  request.open('POST', address)
  request.setRequestHeader('accept', 'application/json')
  request.responseType = 'json'
  request.send(fields)
  return request
}

function showProgress(box, upload) {
  /** @type {HTMLProgressElement} */
  const bar = partOf(box, 'progress')
  const sent = partOf(box, '[data-sent]')
  upload.addEventListener('progress', ({ loaded, total }) => {
    bar.value = total === 0 ? 0 : (loaded / total) * 100
    sent.textContent = loaded < total ? `${sizeOf(loaded)} of ${sizeOf(total)}` : 'Storing the files'
  })
  box.hidden = false
}

/** @param {string} label @param {string} kind @param {() => void} answer */
function clickable(label, kind, answer) {
  const button = make('button', { type: 'button', class: `btn btn-${kind}` }, label)
  button.addEventListener('click', answer)
  return button
}
