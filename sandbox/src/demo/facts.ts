// What is true of the goods: how good each is, and what its buyers notice.

export interface Facts {
  /** Of 5: what an honest buyer gives. */
  stars: number
  good: readonly [string, string]
  bad: readonly [string, string]
}

const of = (stars: number, good: Facts['good'], bad: Facts['bad']): Facts => ({ stars, good, bad })

export const FACTS: Readonly<Record<string, Facts>> = {
  '/daylight': of(
    5,
    ['Sunrise and sunset agree with my almanac to the minute', 'Takes coordinates as well as city names'],
    ['Times are in UTC only, so I convert them myself', 'Only twelve cities by name'],
  ),
  '/summary': of(
    4,
    [
      'Keeps whole sentences of the original, so nothing is invented',
      'Handles twenty thousand characters without complaint',
    ],
    ['Cuts after abbreviations like Dr.', 'Lists come out as one long sentence'],
  ),
  '/almanac': of(
    4,
    [
      'A whole year in one answer, which saves hundreds of calls',
      'Longest and shortest days match the printed tables',
    ],
    ['The same twelve cities and no way to add one', 'Minutes of daylight for the fifteenth of a month only'],
  ),
  '/meridian/distance': of(
    5,
    [
      'Lisbon to Tokyo came out within five kilometres of the airline tables',
      'Gives kilometres and miles at once',
    ],
    ['Straight great circle, no routes', 'City names only, no coordinates'],
  ),
  '/meridian/time': of(
    4,
    [
      'Gets daylight saving time right, even in the week when only America has switched',
      'Returns the zone name, which I log beside the time',
    ],
    ['Twelve cities are few for a world clock', 'No offset in the answer, just the local time'],
  ),
  '/meridian/moon': of(
    4,
    [
      'Phase names and age are right for every date I tried',
      'The lit percentage is handy for planning night photographs',
    ],
    ['Off by some hours around the quarters', 'Says nothing about moonrise'],
  ),
  '/meridian/convert': of(
    4,
    [
      'Exact factors for inch, pound and gallon, no rounding surprises',
      'Refuses to turn litres into kilograms, and says why',
    ],
    ['No temperatures', 'No areas or speeds'],
  ),
  '/meridian/country': of(
    3,
    ['Capital and calling code in one call', 'Currency codes are the ISO ones'],
    ['Twenty countries, mine was missing', 'No time zones or languages'],
  ),
  '/meridian/holidays': of(
    4,
    [
      'Moveable feasts are computed properly, Corpus Christi included',
      'Goes back to 1950, which I needed for payroll records',
    ],
    ['Three countries only', 'No regional holidays, and in Germany these matter'],
  ),
  '/quill/count': of(
    4,
    ['Counts Japanese words, where splitting at spaces finds one', 'Reading time is close to what I measure'],
    ['No counts per paragraph', 'Hyphenated words count as two'],
  ),
  '/quill/readability': of(
    4,
    ['Both formulas agree with the reference tool on my samples', 'Fast enough to run on every draft'],
    [
      'English only, and it does not tell you when the text is not',
      'Counts syllables by rule and misses words like area',
    ],
  ),
  '/quill/language': of(
    3,
    ['Right on whole paragraphs in all six languages', 'Answers unknown instead of guessing at random'],
    ['Short titles confuse Spanish with Portuguese', 'Six languages are not many'],
  ),
  '/quill/slug': of(
    5,
    ['Accents come out as plain letters, umlauts too', 'Never leaves a hyphen at the end'],
    ['Cyrillic titles are refused', 'No limit on the length of a slug'],
  ),
  '/quill/markdown': of(
    4,
    [
      'I tried to smuggle a script tag through and it came out escaped',
      'Clean output without classes or wrappers',
    ],
    ['No tables', 'Nested lists are flattened'],
  ),
  '/quill/filler': of(
    2,
    ['Real sentences, so line breaks look natural', 'The same order every time, good for screenshots'],
    ['Ten sentences that repeat', 'One could write this oneself in a minute'],
  ),
  '/lathe/hash': of(
    4,
    ['Hex and base64 in one answer', 'Digests match openssl byte for byte'],
    ['Texts only, no files', 'A local library does it for nothing'],
  ),
  '/lathe/uuid': of(
    4,
    ['Same name, same id, on every run and machine', 'Matches the uuid module of Python for URLs'],
    ['The namespace cannot be changed', 'Version 5 only'],
  ),
  '/lathe/glob': of(
    5,
    [
      'Two stars cross folders and one does not, as in my build tool',
      'A thousand paths in one request and still instant',
    ],
    ['No braces and no negation', 'Commas in file names break the list'],
  ),
  '/lathe/cron': of(
    5,
    ['Shows the next three runs, which settles every argument', 'Steps and ranges work, also combined'],
    ['UTC only', 'No names like MON or JAN'],
  ),
  '/lathe/csv': of(
    4,
    [
      'Quoted cells with commas and line breaks survive',
      'Empty trailing cells become empty strings, not undefined',
    ],
    ['No choice of separator', 'Everything is text, numbers too'],
  ),
  '/lathe/semver': of(
    5,
    ['Sorts release candidates before the release', 'Compares 1.10 and 1.9 as numbers'],
    ['Refuses versions with two parts', 'Build metadata is not accepted'],
  ),
  '/ledger/loan': of(
    5,
    ['Agrees with my bank to the cent', 'Handles a rate of zero instead of dividing by it'],
    ['No payment plan by month', 'No fees or balloon payments'],
  ),
  '/ledger/compound': of(
    4,
    [
      'Shows interest apart from what was paid in',
      'Monthly additions are counted at the end of the month, as they should be',
    ],
    ['Compounds monthly and nothing else', 'No inflation'],
  ),
  '/ledger/iban': of(
    5,
    ['Tells a wrong length from wrong check digits', 'Caught all forty of my mistyped numbers'],
    ['Twelve countries', 'Does not name the bank'],
  ),
  '/ledger/nif': of(
    4,
    ['Correct on a list of two hundred company numbers', 'Accepts the PT prefix and spaces'],
    ['Does not say whether it is a person or a company', 'A narrow tool for the price'],
  ),
  '/ledger/card': of(
    3,
    ['Luhn check is right, spaces and dashes are fine', 'Names the network'],
    ['Most networks are just called other', 'I would not send a real number'],
  ),
  '/ledger/daycount': of(
    4,
    ['Three conventions at once, so I can compare them', 'The 31st is handled as bond desks do it'],
    ['No actual/actual', 'End of February in 30/360 is treated plainly'],
  ),
  '/palette/scheme': of(
    4,
    [
      'Four schemes, and the hues are exactly where they should be',
      'Returns hex that I paste straight into CSS',
    ],
    ['Ignores perceived lightness', 'No tints or shades'],
  ),
  '/palette/contrast': of(
    5,
    ['Same ratio as the browser tools to two places', 'Says AA, AA large and AAA in one go'],
    ['No suggestion of a colour that would pass', 'Hex only'],
  ),
  '/palette/barcode': of(
    4,
    ['Scanned at the first try from a phone screen', 'Adds the check digit for me'],
    ['No digits under the bars', 'EAN-13 and nothing else'],
  ),
  '/palette/identicon': of(
    3,
    ['Symmetric and stable, fine for avatars', 'Small SVG without any wrapper'],
    ['Some names give a nearly white picture', 'Dear for twenty-five squares'],
  ),
  '/palette/sparkline': of(
    4,
    ['Two hundred points in three kilobytes of SVG', 'Takes the colour of the text around it'],
    ['No axis and no labels', 'A flat series is drawn in the middle without a hint'],
  ),
  '/abacus/statistics': of(
    5,
    ['Quartiles by interpolation, like my spreadsheet', 'A thousand values in one call'],
    ['Population deviation, not the one of a sample', 'No histogram'],
  ),
  '/abacus/factors': of(
    4,
    ['A million million is factored before I look up', 'Says at once whether it is prime'],
    ['Stops at twelve digits', 'No exponents, repeated factors are listed one by one'],
  ),
  '/abacus/roman': of(
    3,
    ['Reads and writes, and rejects IIII', 'Fine for chapter numbers'],
    ['Nobody needs 3999', 'A cent is a cent for ten lines of code'],
  ),
  '/abacus/password': of(
    3,
    ['Recognises the most common passwords', 'An estimate in days is easy to explain to users'],
    ['A short list of common passwords', 'Repeated letters fool it in one direction or the other'],
  ),
  '/corner/gist': of(
    2,
    ['Instant', 'At least it does not invent anything'],
    ['It is the first sentence and nothing more', 'For news that is the headline again'],
  ),
  '/corner/dusk': of(
    1,
    ['Fine for a rough idea', 'Takes any latitude up to sixty degrees'],
    ['Half an hour off where I live', 'Ignores longitude altogether'],
  ),
  '/corner/budget': of(
    2,
    ['Sums are right', 'Easy to explain'],
    ['Three multiplications for three cents', 'The shares cannot be changed'],
  ),
  '/corner/calendar': of(
    2,
    ['Prints well in a fixed font', 'Starts on Monday'],
    ['One month of plain text for the price of a coffee', 'No holidays, no week numbers'],
  ),
}
