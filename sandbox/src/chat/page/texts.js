// Texts with their styles as elements. Everything is made of text nodes: what a message says is never read as HTML.

const TAGS = {
  bold: 'b',
  italic: 'i',
  underline: 'u',
  strikethrough: 's',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  spoiler: 'span',
}

/** `act.command(text)` and `act.start(code)` are called for what is pressed in the text. */
export function renderText({ text, entities }, bot, act) {
  const fragment = document.createDocumentFragment()
  const edges = entities.flatMap(({ offset, length }) => [offset, offset + length])
  const cuts = [...new Set([0, ...edges, text.length])].sort((a, b) => a - b)
  for (let at = 0; at + 1 < cuts.length; at++) {
    const [from, to] = [cuts[at], cuts[at + 1]]
    const around = entities.filter(({ offset, length }) => offset <= from && offset + length >= to)
    let node = document.createTextNode(text.slice(from, to))
    for (const entity of around.reverse()) {
      const whole = text.slice(entity.offset, entity.offset + entity.length)
      const element = elementOf(entity, whole, bot, act)
      element.append(node)
      node = element
    }
    fragment.append(node)
  }
  return fragment
}

function elementOf({ type, url }, text, bot, act) {
  if (type === 'url' || type === 'text_link') return renderLink(url ?? text, bot, act)
  if (type === 'bot_command') return button('command', () => act.command(text))
  const element = document.createElement(TAGS[type] ?? 'span')
  if (type === 'spoiler') {
    element.className = 'spoiler'
    element.tabIndex = 0
    element.addEventListener('click', () => element.classList.add('seen'))
    element.addEventListener('keydown', ({ key }) => key === 'Enter' && element.classList.add('seen'))
  }
  return element
}

/** A link to this bot in Telegram stays on this page; one that is not of the web leads nowhere. */
export function renderLink(address, bot, act) {
  const url = URL.parse(/^[a-z]+:/i.test(address) ? address : `https://${address}`)
  const code = startCode(address, bot)
  if (code) return button('command', () => act.start(code))
  if (!url || !/^https?:$/.test(url.protocol)) return document.createElement('span')
  const link = document.createElement('a')
  link.href = url.href
  link.target = '_blank'
  link.rel = 'noopener noreferrer nofollow ugc'
  return link
}

/** The code of a deep link of this bot, wherever in a text it stands. */
export function startCode(text, bot) {
  const [, name, code] = /\bt\.me\/(\w+)\?start=([\w-]{1,64})/i.exec(text) ?? []
  return name?.toLowerCase() === bot.toLowerCase() ? code : undefined
}

function button(className, onPress) {
  const element = document.createElement('button')
  element.type = 'button'
  element.className = className
  element.addEventListener('click', onPress)
  return element
}
