/** Runs npm under a Node in a folder; throws an error whose message says what to do. */
export function npm(node: string, label: string, folder: string, args: string[]): Promise<void>
