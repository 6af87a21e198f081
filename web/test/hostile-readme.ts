const row = Array.from({ length: 40 }, (_, column) => `column ${column}`).join(' | ')
/** A README that tries what others have tried, and is long and wide in every direction. */
export const hostileReadme = [
  '# Hostile',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(2)>',
  '<svg onload=alert(3)><a xlink:href="javascript:alert(4)">x</a></svg>',
  '[click](javascript:alert(5)) [data](data:text/html,x) ![pixel](https://evil.example/pixel.gif "<table onmouseover=alert(6)>")',
  '<style>body{display:none}</style>',
  `| ${row} |\n|${'---|'.repeat(40)}\n| ${row} |`,
  '- [x] done',
  '## 倒立振子',
  '漢字仮名交じり文'.repeat(60),
  'مرحبا، هذا سيناريو عربة وعمود',
  `${'unbroken'.repeat(400)}`,
  '[^1]\n\n[^1]: <form action=https://evil.example><input name=password></form>',
].join('\n\n')
