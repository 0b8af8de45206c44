PS1='\w \$ '
alias ls='ls --color=auto'
