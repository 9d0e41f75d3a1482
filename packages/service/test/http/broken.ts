// Invalid values for requests.

/** The credentials of a request. */
export type Credential = (typeof CREDENTIALS)[number]

export const CREDENTIALS = [
  'right',
  'none',
  'another account',
  'session',
  'admin session',
  'garbage signature',
  'garbage token',
  'old timestamp',
  'both',
] as const

/** Invalid values for paths and queries, in encoded form. */
export const BROKEN_TEXT = [
  ...[
    '-1',
    '0',
    '1.5',
    '1e3',
    '0x1',
    '+1',
    '-0',
    '007',
    '9007199254740991',
    '9007199254740992',
    '9'.repeat(400),
  ],
  ...[
    'true',
    'TRUE',
    'nan',
    'null',
    'undefined',
    '0x',
    `0x${'ab'.repeat(32)}`,
    'ab'.repeat(32),
    `0x${'1'.repeat(40)}`,
  ],
  ...['2026-01-01T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59-12:00', '2026-02-30T00:00:00Z'],
  ...[
    '%00',
    'a%00b',
    '%ED%A0%80',
    '%FF%FE',
    '%F0%9F%98%80',
    '%E2%80%AE',
    '%0D%0A',
    "'%3B--",
    '%25',
    '..',
    '%2e%2e%2f',
  ],
]

const deep = (open: string, close: string, levels: number) => `${open.repeat(levels)}0${close.repeat(levels)}`

/** As text, because a serialiser cannot produce much of it. */
export const BROKEN_JSON = [
  ...['null', 'true', '0', '-0', '-1', '1.0', '1.5', '1e400', '9007199254740991', '9007199254740993', '1e21'],
  ...[
    '""',
    '"0"',
    '" "',
    '"\\u0000"',
    '"\\ud800"',
    '"\\udc00x"',
    '"😀"',
    '"<script>"',
    '"\\u202e"',
    `"${'x'.repeat(70_000)}"`,
  ],
  ...[
    '[]',
    '[1]',
    '[null]',
    '{}',
    '{"a":1}',
    '{"__proto__":{"a":1}}',
    deep('[', ']', 500),
    deep('{"a":', '}', 5_000),
  ],
  ...[
    '"javascript:alert(1)"',
    '"http://127.0.0.1:1/"',
    '"http://[::1]/"',
    '"https://user:pass@shop.test/"',
    '"//x"',
  ],
  ...[
    `"0x${'ab'.repeat(32)}"`,
    `"${'AB'.repeat(32)}"`,
    `"0x${'ab'.repeat(31)}"`,
    '"{\\"rating\\":5,\\"description\\":\\"x\\"}"',
  ],
]

export const BROKEN_BODIES: (string | Uint8Array)[] = [
  ...[
    '',
    ' ',
    'null',
    '[]',
    '{',
    '}',
    '{}',
    '"x"',
    '1',
    'NaN',
    '{"a":}',
    "{'a':1}",
    '{"a":1,}',
    'a=1&b=2',
    '\ufeff{}',
  ],
  ...[deep('[', ']', 100_000), deep('{"a":', '}', 20_000), '{"a":1}{"a":2}', '{"agent_id":1,"agent_id":-1}'],
  ...[
    Buffer.from([0xff, 0xfe, 0x00]),
    Buffer.from('{"a":"\xe9"}', 'latin1'),
    Buffer.from([0x7b, 0x7d, 0x00]),
  ],
]

export const HEADERS: [string, string][][] = [
  [],
  [['accept', 'text/html']],
  [['accept-encoding', 'br;q=x']],
  [['content-encoding', 'gzip']],
  [['if-none-match', '*']],
  [['range', 'bytes=0-1']],
  [['origin', 'null']],
  [['origin', 'https://elsewhere.test']],
  [['x-request-id', 'x'.repeat(300)]],
  [['x-forwarded-for', 'nonsense, ::1, 1.2.3.4']],
  [['x-http-method-override', 'DELETE']],
  [
    ['cookie', 'a=b; a=c'],
    ['cookie', ''],
  ],
  [['x-agent-timestamp', '1']],
  [['authorization', 'Bearer']],
]

export const CONTENT_TYPES = [
  ...['text/plain', 'application/json; charset=latin1', 'multipart/form-data; boundary=x', 'application/xml'],
  ...['nonsense', '', '/', 'application/x-www-form-urlencoded'],
]
