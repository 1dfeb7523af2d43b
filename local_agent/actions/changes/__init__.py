"""What changes of files share, whether one is applied or taken back."""
