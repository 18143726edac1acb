type Pressed = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>

/** Whether the keyboard has ⌘. There, Ctrl and K together delete to the end of a line. */
export const hasCommandKey = (platform: string): boolean => /^(?:Mac|iP)/.test(platform)

/** Whether these keys mean “go anywhere”: ⌘K, and Ctrl+K where there is no ⌘. */
export function isGoKey({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed, platform: string): boolean {
  if (key.toLowerCase() !== 'k' || altKey || shiftKey) return false
  return hasCommandKey(platform) ? metaKey && !ctrlKey : ctrlKey && !metaKey
}
