// A channel is a messenger through which the service reaches people. It is created from the configuration, and its name is stored with
// every link of a wallet to a chat. How messages come in is in `doors/chat`.

export interface Button {
  label: string
  /** Sent back when the button is pressed: at most 64 bytes. */
  data: string
}

/** Plain text with rows of buttons. A channel escapes what its messenger would take for markup. */
export interface Message {
  text: string
  buttons?: readonly (readonly Button[])[]
  /** As an answer to a pressed button: leaves the message with the button as it is. */
  isApart?: boolean
}

/** What became of a message. */
export type Delivery =
  | { state: 'sent' }
  /** It was certainly not sent, and may be later. */
  | { state: 'retry'; reason: string; afterMs?: number }
  /** The user has blocked the bot or deleted the chat. */
  | { state: 'blocked'; reason: string }
  /** It will never be accepted as it is. */
  | { state: 'refused'; reason: string }
  /** The connection broke: it may have been sent. */
  | { state: 'unsure'; reason: string }

export interface Channel {
  readonly name: string
  /** Whether a message that is sent twice with the same key arrives once. */
  readonly deduplicates: boolean
  /** A message that could not be sent so many times is given up. */
  readonly mostAttempts: number
  /** URL that opens the chat and sends `/start <code>` there. */
  deepLink(code: string): string
  /** Never rejects. */
  send(chat: string, message: Message, key: string): Promise<Delivery>
  /** The user name in the messenger; undefined when there is none or it cannot be read. Never rejects. */
  identify(chat: string): Promise<string | undefined>
}
