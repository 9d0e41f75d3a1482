const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Stop words. */
const JOINING = `
a about again all also am an and any are as at be because been being both but by can cannot could d did do does doing done each either else ever every
few for from had has have having he her here hers him his how i if in into is it its just ll m may me might mine more most much must my neither no nor
not of off on once one ones only onto or other our ours out over own re s same shall she should so some such t than that the their theirs them then
there these they this those though through to too under until up upon us ve very was we were what whatever when where whether which while who whom
whose why will with within without would yes you your yours`

/** Conversational words around the actual query. */
const ASKING = `
advice advise anybody anyone anything appreciate ask asking assist best better buy buying cheap cheaper decent easily easy everyday expensive find
finding get getting give giving good got great hello help helping helps hey hi hope hoping ideal ideally idea kind kindly know let like likely look
looking love lot made make making maybe need needed needing needs nice offer offers option options order perfect perhaps please pls possible possibly
preferably prefer provide provides purchase purchasing quality quick quickly quite really recommend recommendation recommendations recommended reliable
search searching seek seeking show simple simply somebody somehow someone something sort suggest suggestion suggestions suitable sure tell thank thanks
thing things think try trying type use used useful uses using wanna want wanted wanting wants way well wish work working works worth`

/** Words that introduce a purpose, a person or circumstances. */
const TURNING = `after against as because before during for from if in inside like on since so that through to under when where which while who with without`

const asking = words(ASKING)
const filler = words(JOINING + ASKING)
const turning = words(TURNING)

export const isAsking = (word: string): boolean => asking.has(word)
export const isFiller = (word: string): boolean => filler.has(word)
export const turns = (word: string): boolean => turning.has(word)
