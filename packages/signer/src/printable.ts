/** Names, reviews and reasons come from strangers: control and formatting characters could rewrite what a terminal shows. */
export const printable = (text: string): string => text.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
