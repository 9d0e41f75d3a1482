// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IAccessControl} from "@openzeppelin/contracts/access/IAccessControl.sol";
import {
    IAccessControlDefaultAdminRules
} from "@openzeppelin/contracts/access/extensions/IAccessControlDefaultAdminRules.sol";
import {CommissionEscrow} from "../src/CommissionEscrow.sol";
import {ReviewRegistry} from "../src/ReviewRegistry.sol";
import {Roles} from "../src/base/Roles.sol";
import {SplitRouter} from "../src/SplitRouter.sol";
import {RouterTest} from "./base/RouterTest.sol";

/// @notice Each power is one key's, and nobody else's.
contract RolesTest is RouterTest {
    /// @dev Nobody below holds the role that is asked for, whatever else they hold.
    function test_reverts_whenAnotherRoleSettlesPayments() public {
        SplitRouter.Purchase memory purchase = transferPurchaseOf(buyer);
        frontRun(purchase.authorization);
        SplitRouter.Charge memory charge = signCharge(buyer, "tx", PRICE, buyerAgentId);
        address[] memory others = everybodyBut(settler);
        for (uint256 i = 0; i < others.length; ++i) {
            bytes memory refusal = missingRole(others[i], "SETTLER_ROLE");
            vm.startPrank(others[i]);
            vm.expectRevert(refusal);
            router.finish(purchase);
            vm.expectRevert(refusal);
            router.splitDeposit(charge, purchase.attribution);
            vm.stopPrank();
        }
    }

    function test_reverts_whenAnotherRoleSpeaksAsTheOracle() public {
        CommissionEscrow.Terms memory terms = buy();
        vm.warp(terms.windowEnd);
        address[] memory others = everybodyBut(oracle);
        for (uint256 i = 0; i < others.length; ++i) {
            bytes memory refusal = missingRole(others[i], "ORACLE_ROLE");
            vm.startPrank(others[i]);
            vm.expectRevert(refusal);
            escrow.settle(terms, false, true);
            vm.expectRevert(refusal);
            escrow.releaseCashback(terms);
            vm.stopPrank();
        }
    }

    function test_reverts_whenAnotherRolePublishes() public {
        ReviewRegistry.ReviewCommitment memory commitment = reviewCommitment(2);
        bytes memory signature = sign(reviewer, reviews.hashCommitment(commitment));
        address[] memory others = everybodyBut(publisher);
        for (uint256 i = 0; i < others.length; ++i) {
            vm.expectRevert(missingRole(others[i], "PUBLISHER_ROLE"));
            vm.prank(others[i]);
            reviews.publishWithProof(2, commitment, signature);
        }
    }

    function test_reverts_whenAnotherRoleGuards() public {
        address[] memory others = everybodyBut(guardian);
        for (uint256 i = 0; i < others.length; ++i) {
            bytes memory refusal = missingRole(others[i], "GUARDIAN_ROLE");
            vm.startPrank(others[i]);
            vm.expectRevert(refusal);
            escrow.pause();
            vm.expectRevert(refusal);
            escrow.unpause();
            vm.expectRevert(refusal);
            merchants.setSuspended(merchantId, true);
            vm.stopPrank();
        }
    }

    function test_reverts_whenAnotherRoleDeposits() public {
        CommissionEscrow.Terms memory terms = buy();
        address[] memory others = everybodyBut(address(router));
        for (uint256 i = 0; i < others.length; ++i) {
            vm.expectRevert(missingRole(others[i], "DEPOSITOR_ROLE"));
            vm.prank(others[i]);
            escrow.deposit(terms, 0, 0, 0);
        }
    }

    function test_reverts_whenARoleGrantsItself() public {
        bytes32 role = router.SETTLER_ROLE();
        bytes memory refusal =
            abi.encodeWithSelector(IAccessControl.AccessControlUnauthorizedAccount.selector, settler, bytes32(0));
        vm.startPrank(settler);
        vm.expectRevert(refusal);
        router.grantRole(role, stranger);
        vm.expectRevert(refusal);
        router.revokeRole(role, settler);
        vm.stopPrank();
    }

    function test_succeeds_whenTheAdminGrantsAndRevokes() public {
        bytes32 role = router.SETTLER_ROLE();
        vm.startPrank(admin);
        router.grantRole(role, stranger);
        assertTrue(router.hasRole(role, stranger));
        router.revokeRole(role, stranger);
        vm.stopPrank();
        assertFalse(router.hasRole(role, stranger));
    }

    // ---- the admin's hand-over

    function test_succeeds_whenTheAdminHandsOverInTwoSteps() public {
        Roles[4] memory contracts = everyContract();
        for (uint256 i = 0; i < contracts.length; ++i) {
            assertHandedOver(contracts[i]);
        }
    }

    function test_reverts_whenTheNewAdminAcceptsTooEarly() public {
        vm.prank(admin);
        escrow.beginDefaultAdminTransfer(stranger);
        uint48 schedule = uint48(block.timestamp + ADMIN_DELAY);
        vm.warp(schedule);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAccessControlDefaultAdminRules.AccessControlEnforcedDefaultAdminDelay.selector, schedule
            )
        );
        vm.prank(stranger);
        escrow.acceptDefaultAdminTransfer();
        assertEq(escrow.defaultAdmin(), admin);
    }

    function test_reverts_whenSomebodyElseAccepts() public {
        vm.prank(admin);
        escrow.beginDefaultAdminTransfer(stranger);
        vm.warp(block.timestamp + ADMIN_DELAY + 1);
        vm.expectRevert(
            abi.encodeWithSelector(
                IAccessControlDefaultAdminRules.AccessControlInvalidDefaultAdmin.selector, buyer.addr
            )
        );
        vm.prank(buyer.addr);
        escrow.acceptDefaultAdminTransfer();
    }

    function test_reverts_whenTheAdminRoleIsGrantedInOneStep() public {
        vm.expectRevert(
            abi.encodeWithSelector(
                IAccessControlDefaultAdminRules.AccessControlEnforcedDefaultAdminRules.selector
            )
        );
        vm.prank(admin);
        escrow.grantRole(bytes32(0), stranger);
    }

    function test_reverts_whenDeployedWithoutAnAdmin() public {
        vm.expectRevert(
            abi.encodeWithSelector(
                IAccessControlDefaultAdminRules.AccessControlInvalidDefaultAdmin.selector, address(0)
            )
        );
        this.deployWithoutAdmin();
    }

    // ---- helpers

    function deployWithoutAdmin() external {
        deploy("MerchantRegistry.sol:MerchantRegistry", abi.encode(address(0), ADMIN_DELAY, identities));
    }

    function everybodyBut(address holder) private view returns (address[] memory others) {
        address[7] memory everybody = [admin, settler, oracle, publisher, guardian, stranger, address(router)];
        others = new address[](everybody.length);
        uint256 count;
        for (uint256 i = 0; i < everybody.length; ++i) {
            if (everybody[i] != holder) others[count++] = everybody[i];
        }
        assembly {
            mstore(others, count)
        }
    }

    function everyContract() private view returns (Roles[4] memory) {
        return [
            Roles(address(router)), Roles(address(escrow)), Roles(address(reviews)), Roles(address(merchants))
        ];
    }

    function assertHandedOver(Roles roles) private {
        vm.prank(admin);
        roles.beginDefaultAdminTransfer(stranger);
        assertEq(roles.defaultAdmin(), admin, "handed over at once");
        vm.warp(block.timestamp + ADMIN_DELAY + 1);
        vm.prank(stranger);
        roles.acceptDefaultAdminTransfer();
        assertEq(roles.defaultAdmin(), stranger, "not handed over");
        assertFalse(roles.hasRole(bytes32(0), admin), "former admin keeps the role");
    }
}
