// Gives every [data-copy] of the page its button.
import { showCopyButtons } from './nodes/copy-buttons.ts'

showCopyButtons(document)
