// The chat in the browser.
import { renderLink, renderText, startCode } from './texts.js'

const $ = (id) => document.getElementById(id)
const [field, menu, offer, list] = [$('field'), $('menu'), $('offer'), $('messages')]
const state = {
  bot: '',
  people: [],
  person: '',
  chats: new Map(),
  commands: [],
  unread: new Set(),
  offered: undefined,
}
/** The elements of the shown chat's messages, each with what it was made of. */
let shown = new Map()

const act = { command: (text) => say(text), start: offerStart }

// What happens

const events = new EventSource('/events')
events.addEventListener('hello', ({ data }) => {
  Object.assign(state, JSON.parse(data))
  const wanted = new URLSearchParams(location.hash.slice(1)).get('person')
  state.person = state.people.some(({ key }) => key === wanted) ? wanted : state.people[0].key
  state.chats.clear()
  $('bot').textContent = `@${state.bot}`
  document.title = `Chat with @${state.bot}`
  renderPeople()
  const code = new URLSearchParams(location.search).get('start')
  if (code && /^[\w-]{1,64}$/.test(code)) offerStart(code)
})
events.addEventListener('chat', ({ data }) => {
  const { person, messages, commands } = JSON.parse(data)
  const isKnown = state.chats.has(person)
  state.chats.set(person, messages)
  state.commands = commands
  if (person === state.person) renderMessages()
  else if (isKnown && !messages.at(-1)?.isMine) {
    state.unread.add(person)
    renderPeople()
  }
})
events.addEventListener('open', () => {
  document.body.classList.remove('away')
  void renderClock()
})
events.addEventListener('error', () => {
  document.body.classList.add('away')
  $('note').textContent = 'The sandbox has ended. Start it again, and this page comes back.'
})

/** Days that were skipped on the chain are not skipped on this machine's clock, which the messages show. */
async function renderClock() {
  const { aheadSeconds = 0 } = await fetch('/clock')
    .then((response) => response.json())
    .catch(() => ({}))
  const days = Math.round(aheadSeconds / 86_400)
  const clock = days > 0 ? ` The chain’s clock is ${days} day${days > 1 ? 's' : ''} ahead of yours.` : ''
  if (!document.body.classList.contains('away'))
    $('note').textContent = `Sandbox: nothing leaves this machine.${clock}`
}
setInterval(renderClock, 20_000)

// What the person does

async function post(path, deed) {
  try {
    const response = await fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ person: state.person, ...deed }),
    })
    const answer = await response.json()
    if (!response.ok) notify(answer.error)
    return response.ok ? answer : undefined
  } catch {
    notify('The sandbox does not answer.')
    return undefined
  }
}

async function say(text) {
  closeMenu()
  return post('/say', { text })
}

async function press(element, message, button) {
  element.disabled = true
  const answer = await post('/press', { message, button })
  element.disabled = false
  if (!answer?.text) return
  if (!answer.isAlert) return notify(answer.text)
  $('alert').querySelector('p').textContent = answer.text
  $('alert').showModal()
}

async function link(element, message, { key, name }) {
  element.disabled = true
  const answer = await post('/link', { message, as: key })
  element.disabled = false
  if (answer) notify(`Signed as ${name}: this chat is linked.`)
}

function choose(key) {
  state.person = key
  state.unread.delete(key)
  history.replaceState(null, '', `${location.pathname}${location.search}#person=${key}`)
  shown = new Map()
  list.replaceChildren()
  renderPeople()
  renderOffer()
  renderMessages()
}

/** As in Telegram, a deep link does nothing by itself: the person sends its code. */
function offerStart(code) {
  state.offered = code
  renderOffer()
}

function renderOffer() {
  const [about, accept] = offer.children
  about.textContent = 'This link starts the bot with a code.'
  accept.textContent = `Send as ${nameOf(state.person)}`
  offer.hidden = !state.offered
}

function closeOffer() {
  offerStart(undefined)
  history.replaceState(null, '', location.pathname + location.hash)
}

const [, acceptOffer, dismissOffer] = offer.children
dismissOffer.addEventListener('click', closeOffer)
acceptOffer.addEventListener('click', () => {
  if (startCode(field.value, state.bot) === state.offered) field.value = ''
  say(`/start ${state.offered}`)
  closeOffer()
  field.focus()
})

const nameOf = (key) => state.people.find((one) => one.key === key)?.name ?? ''

let hiding
function notify(text) {
  $('notice').textContent = text
  clearTimeout(hiding)
  hiding = setTimeout(() => $('notice').replaceChildren(), 4_000)
}

// What is shown

function element(tag, className, ...content) {
  const made = document.createElement(tag)
  if (className) made.className = className
  made.append(...content)
  return made
}

function renderPeople() {
  const hadFocus = $('people').contains(document.activeElement)
  const tabs = state.people.map(({ key, name }) => {
    const tab = element('button', '', name)
    const isChosen = key === state.person
    tab.type = 'button'
    tab.role = 'tab'
    tab.ariaSelected = String(isChosen)
    tab.tabIndex = isChosen ? 0 : -1
    tab.dataset.key = key
    if (state.unread.has(key)) tab.append(element('span', 'unread', ' new'))
    tab.addEventListener('click', () => choose(key))
    return tab
  })
  $('people').replaceChildren(...tabs)
  if (hadFocus) $('people').querySelector('[aria-selected=true]').focus()
  const { wallet = '' } = state.people.find(({ key }) => key === state.person) ?? {}
  $('empty').textContent =
    `You are the sandbox’s ${nameOf(state.person).toLowerCase()}, wallet ${wallet.slice(0, 6)}…${wallet.slice(-4)}. Say /start.`
}

$('people').addEventListener('keydown', ({ key }) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key]
  if (!step) return
  const at = state.people.findIndex((one) => one.key === state.person)
  choose(state.people.at((at + step) % state.people.length).key)
})

function renderMessages() {
  const messages = state.chats.get(state.person) ?? []
  $('empty').hidden = messages.length > 0
  const scroller = $('chat')
  const wasAtEnd = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 80
  const rendered = new Map()
  let day
  for (const message of messages) {
    const source = JSON.stringify(message)
    const known = shown.get(message.id)
    const item = known?.source === source ? known.item : renderMessage(message)
    if (known && known.item !== item) known.item.replaceWith(item)
    rendered.set(message.id, { source, item })
    const own = dayOf(message.at)
    item.dataset.day = own === day ? '' : own
    day = own
  }
  const items = [...rendered.values()].map(({ item }) => item)
  for (const child of [...list.children]) if (!items.includes(child)) child.remove()
  items.forEach((item, at) => {
    if (list.children[at] !== item) list.insertBefore(item, list.children[at] ?? null)
  })
  shown = rendered
  if (wasAtEnd || messages.at(-1)?.isMine) scroller.scrollTop = scroller.scrollHeight
}

const dayOf = (at) =>
  new Date(at).toLocaleDateString('en', { weekday: 'long', day: 'numeric', month: 'long' })
const timeOf = (at) =>
  new Date(at).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', hour12: false })

function renderMessage(message) {
  const text = element('div', 'text', renderText(message, state.bot, act))
  text.dir = 'auto'
  const time = element('time', '', timeOf(message.at))
  time.dateTime = new Date(message.at).toISOString()
  const about = element('div', 'about', message.isEdited ? 'edited ' : '', time)
  const author = element('span', 'hidden', `${message.from}: `)
  const item = element('li', message.isMine ? 'mine' : '', element('div', 'bubble', author, text, about))
  item.classList.toggle('wide', message.asksToLink || message.buttons.length > 0)
  for (const row of message.buttons)
    item.append(element('div', 'buttons', ...row.map((button) => renderButton(message, button))))
  if (message.asksToLink) item.append(renderLinking(message))
  return item
}

function renderButton({ id }, { text, url, callback_data: data }) {
  const made = url ? renderLink(url, state.bot, act) : element('button', '')
  made.classList.add('button')
  made.append(url ? `${text} ↗` : text)
  if (!url) {
    made.type = 'button'
    made.addEventListener('click', () => press(made, id, data))
  }
  return made
}

function renderLinking({ id }) {
  const buttons = state.people.map((person) => {
    const made = element('button', 'button', `Link as ${person.name}`)
    made.type = 'button'
    made.title = `Signs with the sandbox’s key of ${person.wallet}`
    made.addEventListener('click', () => link(made, id, person))
    return made
  })
  const note = element('p', 'soft', 'In place of a wallet in the console, the sandbox signs:')
  return element('div', 'linking', note, element('div', 'buttons', ...buttons))
}

// The menu of commands

let chosen = -1
function openMenu(prefix = '') {
  const found = state.commands.filter(({ command }) => `/${command}`.startsWith(prefix))
  chosen = -1
  menu.replaceChildren(
    ...found.map(({ command, description }) => {
      const item = element(
        'li',
        '',
        element('b', '', `/${command}`),
        ' ',
        element('span', 'soft', description),
      )
      item.role = 'option'
      item.addEventListener('click', () => take(command))
      return item
    }),
  )
  if (found.length === 0) menu.append(element('div', 'soft', 'The bot has no such command.'))
  menu.hidden = found.length === 0 && prefix !== ''
  $('open-menu').ariaExpanded = String(!menu.hidden)
}

function closeMenu() {
  menu.hidden = true
  $('open-menu').ariaExpanded = 'false'
}

function take(command) {
  field.value = `/${command} `
  closeMenu()
  field.focus()
}

function moveInMenu(step) {
  const items = [...menu.querySelectorAll('[role=option]')]
  if (items.length === 0) return
  chosen = (chosen + step + items.length) % items.length
  items.forEach((item, at) => {
    item.ariaSelected = String(at === chosen)
  })
  items[chosen].scrollIntoView({ block: 'nearest' })
}

$('open-menu').addEventListener('click', () => {
  if (menu.hidden) openMenu()
  else closeMenu()
  field.focus()
})

// The field

field.addEventListener('input', () => {
  const text = field.value
  if (/^\/\w*$/.test(text)) openMenu(text)
  else closeMenu()
  const code = startCode(text, state.bot)
  if (code) offerStart(code)
})

field.addEventListener('keydown', (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!menu.hidden && step) {
    event.preventDefault()
    moveInMenu(step)
  } else if (event.key === 'Escape') {
    closeMenu()
    closeOffer()
  } else if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
    event.preventDefault()
    if (!menu.hidden && chosen >= 0) menu.querySelectorAll('[role=option]')[chosen].click()
    else $('composer').requestSubmit()
  }
})

$('composer').addEventListener('submit', async (event) => {
  event.preventDefault()
  const text = field.value.trim()
  if (text && (await say(text))) field.value = ''
  field.focus()
})

// Typing anywhere goes into the field.
document.addEventListener('keydown', ({ key, ctrlKey, metaKey, altKey, target }) => {
  if (
    key.length === 1 &&
    key !== ' ' &&
    !ctrlKey &&
    !metaKey &&
    !altKey &&
    target !== field &&
    !$('alert').open
  )
    field.focus()
})

// On a phone that would open the keyboard over the chat.
if (matchMedia('(hover: hover)').matches) field.focus()
