// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title The part of an ERC-8004 identity registry that the protocol reads
interface IIdentityRegistry {
    /// @notice The owner of an identity. Reverts when there is no such identity.
    /// @param agentId Id of the identity; 0 is a valid id
    /// @return The account that owns the identity, never zero
    function ownerOf(uint256 agentId) external view returns (address);

    /// @notice The wallet at which an identity wants to be paid.
    /// @param agentId Id of the identity; 0 is a valid id
    /// @return The wallet; zero when it was cleared or the identity is unknown
    function getAgentWallet(uint256 agentId) external view returns (address);
}
