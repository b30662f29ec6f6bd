/* Publishing: folders, several files, drag and drop, and progress, in addition to the zip of the plain form. What was
   dropped or chosen takes the place of the inputs. Nothing is sent before what is unclear was answered. contract 17.3. */

/**
 * What was dropped or chosen. `upload` is missing while it is being read; `isWanted`: Publish was clicked meanwhile.
 *
 * @typedef {{ name: string, isWanted: boolean, upload?: Upload, request?: XMLHttpRequest | undefined }} Picked
 */

/**
 * What has to be answered first: which folder is the site, or that something is meant. `answer` is undefined until it is.
 *
 * @typedef {{ kind: 'folders', folders: string[], answer?: string } | { kind: 'consent', label: string, answer?: string }} Question
 */

const LONE_ARCHIVE = /\.(tar|tar\.gz|tgz)$/i
const UNREADABLE = 'The dropped files could not be read. Use a button to choose them instead.'
const CANCELLED = 'Cancelled: nothing was published.'
const COUNT_MS = 250
/** More paths are not compared with what is shown. */
const MAX_COMPARED = 5000

class PublishForm {
  /** @type {Picked | undefined} */
  picked
  /** @type {Question | undefined} */
  question

  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.form = form
    this.repository = form.dataset.repository
    this.maxFiles = Number(form.dataset.maxFiles)
    /** @type {Record<string, { name: string, hasStartPage: boolean }>} */
    this.shows = JSON.parse(form.dataset.shows ?? '{}')
    this.zone = /** @type {HTMLElement} */ (form.closest('[data-dropzone]'))
    this.pickers = partOf(form, '[data-pickers]')
    /** @type {HTMLInputElement} */
    this.zipInput = partOf(form, 'input[name=file]')
    /** @type {HTMLInputElement} */
    this.folderInput = partOf(form, '#folder')
    this.chosen = partOf(form, '[data-chosen]')
    this.ready = partOf(form, '[data-ready]')
    this.what = partOf(form, '[data-what]')
    this.replaces = partOf(form, '[data-replaces]')
    this.taken = partOf(form, '[data-taken]')
    this.folders = partOf(form, '[data-folders]')
    this.consent = partOf(form, '[data-consent]')
    /** @type {HTMLInputElement} */
    this.consentInput = partOf(this.consent, 'input')
    this.actions = partOf(form, '[data-actions]')
    /** @type {HTMLButtonElement} */
    this.button = partOf(this.actions, 'button')
    /** @type {HTMLElement | null} */
    this.create = form.querySelector('[data-create]')
    /** Where the buttons are while nothing is picked. */
    this.place = make('div')
    this.actions.before(this.place)
    this.cancel = make('button', { type: 'button', class: 'btn btn-secondary' }, 'Cancel')
  }

  listen() {
    this.cancel.addEventListener('click', () => this.stopOrUnpick())
    this.form.addEventListener('input', (event) => this.typed(/** @type {HTMLElement} */ (event.target)))
    this.zipInput.addEventListener('change', () => this.pickLoose([...(this.zipInput.files ?? [])]))
    this.folderInput.addEventListener('change', () => this.pickFolder([...(this.folderInput.files ?? [])]))
    this.zone.addEventListener('dragover', (event) => {
      event.preventDefault()
      this.zone.classList.add('is-over')
    })
    this.zone.addEventListener('dragleave', () => this.zone.classList.remove('is-over'))
    this.zone.addEventListener('drop', (event) => {
      event.preventDefault()
      this.zone.classList.remove('is-over')
      this.pickDropped(droppedRoots(event.dataTransfer))
    })
    this.form.addEventListener('submit', (event) => this.submit(event))
  }

  /** @param {string} name @returns {HTMLInputElement | null} */
  fieldOf(name) {
    return /** @type {HTMLInputElement | null} */ (this.form.elements.namedItem(name))
  }

  /** @param {string} name */
  valueOf(name) {
    return this.fieldOf(name)?.value.trim() ?? ''
  }

  /** The folder with the site that was typed, empty or ending in a slash. */
  base() {
    const parts = this.valueOf('basePath').split('/')
    return parts.flatMap((part) => (part === '' || part === '.' ? [] : [`${part}/`])).join('')
  }

  /** @param {File[]} files */
  pickLoose(files) {
    const entries = files.map((file) => ({ path: file.name, file }))
    const [first] = entries
    if (first !== undefined)
      this.pick(entries.length === 1 ? first.path : `${entries.length} things`, async () => uploadOf(entries))
  }

  /** @param {File[]} files */
  pickFolder(files) {
    const entries = files.map((file) => ({ path: file.webkitRelativePath, file }))
    const name = entries[0]?.path.split('/', 1)[0] ?? 'The folder'
    this.pick(name, async () => uploadOf(withoutTop(entries)))
  }

  /** @param {ReturnType<typeof droppedRoots>} roots */
  pickDropped(roots) {
    const [first] = roots
    if (first === undefined) return
    const name = roots.length > 1 ? `${roots.length} things` : (first.entry?.name ?? first.file.name)
    this.pick(name, async (tell) => {
      const { files, leftOut } = await filesOf(roots, tell)
      return uploadOf(files, leftOut)
    })
  }

  /**
   * Reads what was picked, and counts meanwhile. `read` gets a function to tell what it has so far.
   *
   * @param {string} name @param {(tell: (entries: Upload['entries']) => void) => Promise<Upload>} read
   */
  async pick(name, read) {
    if (this.picked?.request !== undefined) return
    /** @type {Picked} */
    const now = { name, isWanted: false }
    this.picked = now
    this.refuse('')
    this.ask(undefined)
    this.chosen.textContent = `${name}: reading`
    let count = 0
    const counting = setInterval(() => {
      if (this.picked === now && !now.isWanted)
        this.chosen.textContent = `${name}: reading, ${countOf(count)} so far`
    }, COUNT_MS)
    this.showPicked(name)
    const upload = await read((entries) => {
      count = entries.length
    }).catch(() => undefined)
    clearInterval(counting)
    if (this.picked !== now) return
    this.chosen.textContent = ''
    if (upload === undefined) this.unpick(UNREADABLE)
    else if (upload.paths?.length === 0) this.unpick('', emptyText(name, upload.isEmpty))
    else this.finish(Object.assign(now, { upload }))
  }

  /** @param {Picked & { upload: Upload }} picked */
  finish({ name, isWanted, upload }) {
    this.what.textContent = [name, ...sizesOf(upload)].join(' · ')
    this.propose(name)
    this.look()
    if (upload.entries.length > this.maxFiles)
      this.refuse(`Too many files: a deployment may have ${this.maxFiles}.`)
    else if (isWanted && this.question === undefined) this.publish(upload)
  }

  /** A new project is called as what was chosen, unless it was given a name. @param {string} name */
  propose(name) {
    const field = this.fieldOf('repo')
    const plain = name
      .replace(/\.(zip|html?)$/i, '')
      .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
      .replaceAll(/^[-.]+|[-.]+$/g, '')
    if (field !== null && field.value === field.defaultValue && /^[A-Za-z0-9]/.test(plain))
      field.value = plain
  }

  /** @param {HTMLElement} target */
  typed(target) {
    if (this.folders.contains(target) || this.consent.contains(target)) this.answered()
    else if (this.picked?.upload !== undefined) this.look()
  }

  /** Says what is replaced, and asks what is unclear. */
  look() {
    const upload = this.picked?.upload
    if (upload === undefined) return
    const folder = this.folderTakenAway(upload)
    this.taken.textContent =
      folder === undefined
        ? ''
        : `Everything is in the folder ${folder}, which is taken away: what is in it is published.`
    this.ask(this.questionOf(upload))
    this.tellReplaced(upload)
  }

  /** @param {Upload} upload */
  async tellReplaced({ paths }) {
    const alias = this.valueOf('alias')
    const shown = this.shows[alias.toLowerCase()]
    const now = this.picked
    if (alias === '') this.replaces.textContent = 'A new deployment. No address changes.'
    else if (shown === undefined) this.replaces.textContent = `${alias} is new.`
    else {
      this.replaces.textContent = `${alias} shows ${shown.name}`
      const counts = await this.comparedWith(alias, paths)
      const isStill = this.picked === now && this.valueOf('alias') === alias
      if (counts !== undefined && isStill)
        this.replaces.textContent = `${alias} shows ${shown.name}: ${counts}`
    }
  }

  /** How many paths are new and how many are gone. @param {string} alias @param {string[] | undefined} paths */
  async comparedWith(alias, paths) {
    if (paths === undefined || paths.length > MAX_COMPARED) return undefined
    const address = `/projects/${this.form.dataset.project}/publish/paths?${new URLSearchParams({ alias })}`
    const answer = await fetch(address).catch(() => undefined)
    if (answer?.ok !== true) return undefined
    const { paths: before } = await answer.json()
    if (before === null) return undefined
    const [old, fresh] = [new Set(before), new Set(paths)]
    const added = paths.filter((path) => !old.has(path)).length
    const gone = before.filter((path) => !fresh.has(path)).length
    return `${added} new ${added === 1 ? 'path' : 'paths'}, ${gone} gone`
  }

  /** The top folder of a zip is taken away without a question. @param {Upload} upload */
  folderTakenAway({ zip, paths }) {
    return zip === undefined || paths === undefined || this.base() !== '' ? undefined : nestedFolder(paths)
  }

  /** @param {Upload} upload @returns {Question | undefined} */
  questionOf(upload) {
    const { zip, entries, paths } = upload
    const base = this.base()
    if (paths === undefined || paths.includes(base + START_PAGE)) return undefined
    if (this.folderTakenAway(upload) !== undefined) return undefined
    if (zip === undefined && entries.length === 1 && LONE_ARCHIVE.test(paths[0] ?? ''))
      return {
        kind: 'consent',
        label: 'Publish the archive itself, for download: only a zip is unpacked here',
      }
    const folders = startFolders(paths, base)
    if (folders.length > 0) return { kind: 'folders', folders }
    if (this.shows[this.valueOf('alias').toLowerCase()]?.hasStartPage === true)
      return { kind: 'consent', label: 'Publish without a start page' }
    return undefined
  }

  /** @param {Question | undefined} question */
  ask(question) {
    if (JSON.stringify({ ...this.question, answer: undefined }) === JSON.stringify({ ...question })) return
    this.question = question
    this.folders.hidden = question?.kind !== 'folders'
    this.consent.hidden = question?.kind !== 'consent'
    for (const old of this.folders.querySelectorAll('.check')) old.remove()
    if (question?.kind === 'folders')
      for (const [value, label] of [
        ...question.folders.map((folder) => [folder, folder]),
        ['', 'Everything as it is'],
      ])
        this.folders.append(radioOf(value ?? '', label ?? ''))
    if (question?.kind === 'consent') {
      partOf(this.consent, 'label').textContent = question.label
      this.consentInput.checked = false
    }
    this.button.disabled = question !== undefined
  }

  answered() {
    const { question } = this
    if (question === undefined) return
    /** @type {HTMLInputElement | null} */
    const chosen = this.folders.querySelector('input:checked')
    const consent = this.consentInput.checked ? 'yes' : undefined
    const answer = question.kind === 'folders' ? chosen?.value : consent
    if (answer === undefined) delete question.answer
    else question.answer = answer
    this.button.disabled = answer === undefined
  }

  /** @param {string} name */
  showPicked(name) {
    this.what.textContent = name
    this.replaces.textContent = ''
    this.taken.textContent = ''
    this.zipInput.required = false
    this.pickers.hidden = true
    this.ready.hidden = false
    this.form.classList.add('is-picked')
    if (this.create !== null) this.create.hidden = true
    this.actions.append(this.cancel)
    this.ready.append(this.actions)
    this.button.focus({ preventScroll: true })
  }

  stopOrUnpick() {
    const { request } = this.picked ?? {}
    if (request === undefined) this.unpick()
    else request.abort()
  }

  /** Back to the inputs. */
  unpick(refusal = '', told = '') {
    this.picked = undefined
    this.zipInput.value = ''
    this.folderInput.value = ''
    this.zipInput.required = true
    this.pickers.hidden = false
    this.ready.hidden = true
    this.chosen.textContent = told
    this.ask(undefined)
    this.form.classList.remove('is-picked')
    if (this.create !== null) this.create.hidden = false
    this.cancel.remove()
    this.place.after(this.actions)
    this.refuse(refusal)
  }

  /** @param {SubmitEvent} event */
  submit(event) {
    const { picked } = this
    if (picked === undefined || (this.create !== null && event.submitter === this.create)) return
    event.preventDefault()
    picked.isWanted = true
    if (picked.upload === undefined)
      this.chosen.textContent = `${picked.name}: reading, and published as soon as it is read`
    else if (picked.request === undefined && picked.upload.entries.length <= this.maxFiles)
      this.publish(picked.upload)
  }

  /** @param {Upload} upload */
  publish(upload) {
    const { zip, entries } = upload
    const folder = this.question?.kind === 'folders' ? (this.question.answer ?? '') : ''
    // Of files only those in the folder are sent; a zip is sent whole.
    const cut = zip === undefined && this.base() === '' ? folder : ''
    const fields = new FormData(this.form)
    fields.delete('file')
    fields.delete('ask')
    for (const [name, value] of Object.entries(this.extraOf(upload, cut === '' ? folder : '')))
      fields.set(name, value)
    const sent = entries
      .filter(({ path }) => path.startsWith(cut))
      .map(({ path, file }) => ({ path: path.slice(cut.length), file }))
    if (zip === undefined) fields.set('filePaths', JSON.stringify(sent.map(({ path }) => path)))
    for (const { path, file } of sent) fields.append('file', file, path)
    this.send(this.addressOf(zip !== undefined), fields)
  }

  /** @param {Upload} upload @param {string} folder @returns {Record<string, string>} */
  extraOf(upload, folder) {
    const [owner = '', repo = ''] = this.repository?.split('/') ?? [
      this.valueOf('owner'),
      this.valueOf('repo'),
    ]
    const isArchive = this.question?.kind === 'consent' && LONE_ARCHIVE.test(upload.paths?.[0] ?? '')
    return {
      ...{ owner, repo, commitSha: newSha() },
      ...(folder === '' ? {} : { basePath: `/${folder.slice(0, -1)}` }),
      ...(this.folderTakenAway(upload) === undefined ? {} : { unwrap: 'true' }),
      ...(isArchive ? { asFiles: 'true' } : {}),
    }
  }

  /** @param {boolean} isZip */
  addressOf(isZip) {
    if (this.repository === undefined)
      return `/projects/new?${new URLSearchParams(isZip ? {} : { files: 'true' })}`
    return isZip ? '/api/deployments/zip' : '/api/deployments'
  }

  /** @param {string} address @param {FormData} fields */
  send(address, fields) {
    this.refuse('')
    this.button.disabled = true
    const request = sendForm(this.form, address, fields, {
      // From here on it can no longer be stopped.
      onSent: () => this.cancel.remove(),
      onPublished: (id, projectId) =>
        location.assign(`/projects/${projectId ?? this.form.dataset.project}/publish?published=${id}`),
      onFailed: (message) => this.stop(message),
    })
    if (this.picked !== undefined) this.picked.request = request
  }

  /** What was chosen is still there. @param {string} message */
  stop(message) {
    this.button.disabled = false
    if (this.picked === undefined) return
    this.picked.request = undefined
    this.actions.append(this.cancel)
    if (message === '') this.chosen.textContent = CANCELLED
    this.refuse(message)
  }

  /** @param {string} message */
  refuse(message) {
    const box = partOf(this.form, '[data-refused]')
    box.textContent = message
    box.hidden = message === ''
  }
}

/** @param {string} value @param {string} label */
function radioOf(value, label) {
  const id = `folder-${value}`
  const line = make('div', { class: 'check' })
  const text = make('div')
  text.append(make('label', { for: id }, label))
  line.append(make('input', { type: 'radio', id, name: '_folder', value }), text)
  return line
}

each('form[data-publish]', (/** @type {HTMLFormElement} */ form) => {
  /** @type {NodeListOf<HTMLElement>} */
  const scripted = form.querySelectorAll('[data-scripted]')
  for (const hidden of scripted) hidden.hidden = false
  new PublishForm(form).listen()
})
