import type { TokenScope } from '@agentgym/contract'

/** What a token may do, in the order in which one would think of it. */
export const offeredScopes: { scope: TokenScope; meaning: string }[] = [
  { scope: 'packages:read', meaning: 'Install your private packages, and those that you bought.' },
  { scope: 'packages:publish', meaning: 'Publish versions; read what is private.' },
  { scope: 'packages:manage', meaning: 'Tags, deprecation, yanks; publishing too.' },
  { scope: 'training:view', meaning: 'See your runs.' },
  { scope: 'training:start', meaning: 'Start runs, which may cost money.' },
  { scope: 'training:cancel', meaning: 'Cancel runs.' },
  { scope: 'training:evaluate', meaning: 'Have agents of your runs evaluated.' },
  { scope: 'data:export', meaning: 'Export sampled trajectories of your runs.' },
  { scope: 'agents:call', meaning: 'Call agents that the marketplace runs, which may cost money.' },
  { scope: 'market:buy', meaning: 'Buy, and see balance and orders.' },
  { scope: 'market:sell', meaning: 'Set prices; see earnings and have them paid out.' },
  { scope: 'account:manage', meaning: 'Password, tokens, organisations.' },
  { scope: 'worker', meaning: 'Take jobs of this server and run them.' },
]
