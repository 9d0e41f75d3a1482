import { describe, expect, it } from 'vitest'
import { readingOf, type Vocabulary, wishesOf, wordsThatMatter } from './question.ts'
import { canBeMisspelt, Spelling } from './spelling.ts'
import { StringTable } from './string-table.ts'
import { stemOf, wordsOf } from './text.ts'

const words = (intent: string) => wordsThatMatter(intent).map(({ word }) => word)

describe('the words of an intent', () => {
  it('are those that say what is wanted', () => {
    expect(words('Hi, I need something that can translate documents')).toEqual(['translate', 'documents'])
    expect(words('Could you please recommend a good coffee grinder?')).toEqual(['coffee', 'grinder'])
  })

  it('weigh less where they tell what for', () => {
    expect(wordsThatMatter('I am looking for a lamp for my desk')).toEqual([
      { word: 'lamp', weight: 1 },
      { word: 'desk', weight: 0.5 },
    ])
  })

  it('all count when there are few of them', () => {
    expect(words('d battery')).toEqual(['d', 'battery'])
    expect(words('to be or not to be')).toEqual(['to', 'be', 'or', 'not'])
  })

  it('are taken from the first thousand characters, whole ones', () => {
    expect(words(`${'🙂'.repeat(996)} lamp`)).toEqual(['lam'])
  })
})

describe('terms', () => {
  it('are without case, accents, width and endings', () => {
    expect(wordsOf('Cafés ＵＳＢ batteries, RUNNING').map(stemOf)).toEqual(['cafe', 'usb', 'batteri', 'run'])
  })
})

describe('wishes', () => {
  const used = [
    'headset',
    'head',
    'lamp',
    'smart',
    'watch',
    'iphone',
    '7',
    'gaming',
    'mouse',
    'keyboard',
    'digital',
    'lmap',
  ]
  const often = (term: string) =>
    used.some((word) => stemOf(word) === term) ? (term === 'lmap' ? 1 : 100) : 0
  const words = new StringTable()
  const spelling = new Spelling(words)
  for (const word of used) {
    const number = Uint32Array.of(words.add(word))
    if (canBeMisspelt(word)) for (let i = 0; i < often(stemOf(word)); i += 1) spelling.add(number)
  }
  const vocabulary: Vocabulary = {
    size: 1000,
    users: often,
    heard: (term) => (term === 'gamer' ? 3 : 0),
    similar: (word) => spelling.similar(word),
  }
  const ways = (intent: string) =>
    wishesOf(intent, vocabulary).map((wish) => wish.ways.map(({ terms }) => terms.join('+')))

  it('are fulfilled by words joined and split', () => {
    expect(ways('head set')).toEqual([['head', 'headset'], ['headset']])
    expect(ways('smartwatch')).toEqual([['smart+watch']])
    expect(ways('iphone7')).toEqual([['iphon+7']])
  })

  it('are fulfilled by the words that were meant: swapped, missing, added and changed letters', () => {
    for (const typo of ['muose', 'mose', 'mousse', 'moude']) expect(ways(typo)).toEqual([['mous']])
    expect(ways('gamig')).toEqual([['game']])
    expect(ways('keybaord')).toEqual([['keyboard']])
    expect(ways('kebyaord')).toEqual([['keyboard']])
  })

  it('stay unfulfilled where nothing alike is in use', () => {
    expect(ways('zzzzzz')).toEqual([[]])
    expect(ways('mou')).toEqual([[]])
  })

  it('also mean a much commoner word when hardly anybody uses theirs', () => {
    expect(ways('lmap')).toEqual([['lmap', 'lamp']])
  })

  it('take words of reviews for words and not for well spelt', () => {
    expect(ways('gamer')).toEqual([['gamer']])
    expect(spelling.similar('gamers')).toEqual([])
  })

  it('miss a word that nobody uses as much as the others are worth', () => {
    const [known, unknown] = wishesOf('lamp zzzzzz', vocabulary)
    expect(unknown?.weight).toBe(known?.weight)
  })

  describe('and how they were read', () => {
    const readAs = (intent: string) =>
      wishesOf(intent, vocabulary).map(({ word, ways }) => [
        word,
        ...ways.map(({ how, text, likeness }) => `${how} ${text} ${likeness}`),
      ])

    it('is told of each word, with the words before stemming', () => {
      expect(readAs('head set')).toEqual([
        ['head', 'as_written head 1', 'joined headset 0.8'],
        ['set', 'joined headset 0.8'],
      ])
      expect(readAs('smartwatch')).toEqual([['smartwatch', 'split smart watch 0.8']])
      expect(readAs('gamig keyboards')).toEqual([
        ['gamig', 'misspelt gaming 0.8'],
        ['keyboards', 'as_written keyboards 1'],
      ])
      expect(readAs('gamer')).toEqual([['gamer', 'only_in_reviews gamer 1']])
      expect(readAs('zzzzzz')).toEqual([['zzzzzz']])
    })

    const leftOut = (intent: string) => {
      const { fillers, beyond } = readingOf(intent, wishesOf(intent, vocabulary))
      return { fillers, beyond }
    }

    it('says which were left out, each once: fillers, and those after the 32nd', () => {
      expect(leftOut('I need a lamp, I really need a lamp for the keyboard')).toEqual({
        fillers: ['i', 'need', 'a', 'really', 'for', 'the'],
        beyond: [],
      })
      const many = Array.from({ length: 34 }, (_, at) => `word${at}`)
      expect(leftOut(many.join(' '))).toEqual({ fillers: [], beyond: ['word32', 'word33'] })
    })

    it('leaves nothing out of a short question', () => {
      expect(leftOut('xbox one')).toEqual({ fillers: [], beyond: [] })
      expect(leftOut('')).toEqual({ fillers: [], beyond: [] })
    })
  })
})

describe('spelling', () => {
  const words = new StringTable()
  const numbersOf = (texts: readonly string[]) =>
    Uint32Array.from(texts, (text) => (words.get(text) < 0 ? words.add(text) : words.get(text)))

  it('forgets a word when the last product that used it is gone', () => {
    const spelling = new Spelling(words)
    const [first, second] = [numbersOf(['lantern']), numbersOf(['lantern', 'lanterns'])]
    for (const each of [first, second]) spelling.add(each)
    spelling.remove(first)
    expect(spelling.similar('lantrn').map(({ word }) => word)).toEqual(['lantern'])
    spelling.remove(second)
    expect(spelling.similar('lantrn')).toEqual([])
  })

  it('prefers the same first letter, then the commoner word, then the alphabet', () => {
    const spelling = new Spelling(words)
    for (const word of ['bolt', 'colt', 'cold', 'cold', 'cord', 'cola']) spelling.add(numbersOf([word]))
    expect(spelling.similar('colr').map(({ word }) => word)).toEqual(['cold', 'cola', 'colt'])
  })
})
