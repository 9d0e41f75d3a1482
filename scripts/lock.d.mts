/** Waits for the lock and returns the function that gives it back. onWait is called once if another holds it. */
export function acquireLock(path: string, onWait: (holder: number) => void): Promise<() => void>
